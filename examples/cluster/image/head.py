"""The head: LoadGen, whose queries it distributes over ZMQ to the workers, each on its node.

It waits until all workers have registered, but not for ever; a worker that falls silent, or whose name registers twice,
ends the measurement. At the end it tells the workers to leave.
"""

import argparse
import array
import os
import sys
import threading
import time
from collections import deque

import mlperf_loadgen as lg
import numpy as np
import zmq
from sklearn.datasets import load_digits

from worker import INTERVAL, SILENCE, TRAINED

BATCH = 100  # images sent at once, if so many are waiting
OUTSTANDING = 4  # batches that a worker has at most, so that it never waits for the network
SCENARIOS = {"offline": lg.TestScenario.Offline, "server": lg.TestScenario.Server}
MODES = {"performance": lg.TestMode.PerformanceOnly, "accuracy": lg.TestMode.AccuracyOnly}


def settings_of(scenario, mode, rate):
    """LoadGen's settings. The seeds are fixed, so every head gets the same queries at the same times."""
    settings = lg.TestSettings()
    settings.scenario = SCENARIOS[scenario]
    settings.mode = MODES[mode]
    settings.qsl_rng_seed = 2085463073848966840
    settings.sample_index_rng_seed = 2747215439041700203
    settings.schedule_rng_seed = 16159082839903944936
    if scenario == "offline":
        # A fixed amount of work, however many workers share it.
        settings.min_query_count = 300_000
        settings.min_duration_ms = 0
    else:
        # Slow enough for any machine. What is measured is whether every answer comes, and in time.
        settings.server_target_qps = rate
        settings.server_target_latency_ns = 1_000_000_000
        settings.min_duration_ms = 10_000
    return settings


class Worker:
    def __init__(self, name):
        self.name, self.heard = name, time.monotonic()
        self.outstanding, self.answered = 0, 0


class Failure(Exception):
    """The measurement cannot go on."""


class Cluster:
    """The system under test: workers that register, and take batches. One thread has all sockets but `issue`'s."""

    def __init__(self, port, count, images):
        self.context = zmq.Context()
        self.router = self.context.socket(zmq.ROUTER)
        self.router.setsockopt(zmq.LINGER, 5000)
        self.router.bind(f"tcp://*:{port}")
        self.queries = self.context.socket(zmq.PULL)
        self.queries.bind("inproc://queries")
        self.issued = self.context.socket(zmq.PUSH)
        self.issued.connect("inproc://queries")
        self.poller = zmq.Poller()
        self.poller.register(self.router, zmq.POLLIN)
        self.poller.register(self.queries, zmq.POLLIN)
        self.count, self.images = count, images
        self.workers, self.batches = {}, {}
        self.waiting, self.number, self.told = deque(), 0, 0.0
        self.thread = threading.Thread(target=self.run)

    def gather(self, seconds):
        """Waits for the workers; not longer than stated."""
        end = time.monotonic() + seconds
        while len(self.workers) < self.count:
            left = end - time.monotonic()
            if left <= 0:
                names = ", ".join(sorted(worker.name for worker in self.workers.values())) or "none"
                raise Failure(f"{len(self.workers)} of {self.count} workers registered within {seconds} s: {names}")
            self.step(left)

    def issue(self, samples):
        """Called by LoadGen, in a thread of its own. It must not wait for answers."""
        queries = array.array("Q")
        for sample in samples:
            queries.extend((sample.id, sample.index))
        self.issued.send(queries.tobytes())

    def run(self):
        try:
            while self.step(INTERVAL):
                pass
        except Failure as failure:
            # LoadGen would wait for the answers for ever.
            self.leave()
            print(f"error: {failure}", file=sys.stderr, flush=True)
            os._exit(1)

    def step(self, seconds):
        """Handles what comes within so many seconds; false at the end."""
        ready = dict(self.poller.poll(1000 * min(seconds, INTERVAL)))
        if self.router in ready:
            self.receive(*self.router.recv_multipart())
        if self.queries in ready:
            queries = self.queries.recv()
            if not queries:
                return False
            queries = np.frombuffer(queries, np.uint64).reshape(-1, 2)
            self.waiting.extend(np.split(queries, range(BATCH, len(queries), BATCH)))
        self.send()
        self.watch()
        return True

    def receive(self, identity, kind, *body):
        if kind == b"register":
            self.register(identity, body[0].decode(errors="replace"))
        elif identity not in self.workers:
            # Left by a head before this one.
            self.router.send_multipart([identity, b"leave"])
            return
        worker = self.workers[identity]
        worker.heard = time.monotonic()
        if kind == b"answer":
            number, labels = body
            self.complete(self.batches.pop(number), labels)
            worker.outstanding -= 1
            worker.answered += len(labels) // 4

    def register(self, identity, name):
        names = [worker.name for worker in self.workers.values()]
        problem = None
        if name in names:
            problem = f"two workers registered as {name}"
        elif len(names) == self.count:
            problem = f"worker {name} registered, but {self.count} were expected, and are there: {', '.join(sorted(names))}"
        if problem:
            self.router.send_multipart([identity, b"leave"])
            raise Failure(problem)
        self.workers[identity] = Worker(name)
        print(f"worker {name} registered", flush=True)

    def send(self):
        """Gives waiting batches to the workers with the least to do."""
        while self.waiting:
            identity = min(self.workers, key=lambda key: (self.workers[key].outstanding, self.workers[key].answered))
            if self.workers[identity].outstanding == OUTSTANDING:
                return
            batch = self.waiting.popleft()
            self.number += 1
            number = self.number.to_bytes(8)
            self.batches[number] = batch[:, 0]
            self.workers[identity].outstanding += 1
            self.router.send_multipart([identity, b"batch", number, self.images[batch[:, 1].astype(int)].tobytes()])

    def complete(self, ids, labels):
        answers = array.array("B", labels)  # kept until LoadGen has copied them
        address, _ = answers.buffer_info()
        lg.QuerySamplesComplete(
            [lg.QuerySampleResponse(number, address + 4 * i, 4) for i, number in enumerate(ids.tolist())]
        )

    def watch(self):
        """Tells the workers that the head is alive, and notices one that is not."""
        now = time.monotonic()
        if now - self.told < INTERVAL:
            return
        self.told = now
        for identity, worker in self.workers.items():
            self.router.send_multipart([identity, b"alive"])
            if now - worker.heard > SILENCE:
                raise Failure(f"nothing was heard of worker {worker.name} for {SILENCE} s")

    def leave(self):
        for identity in self.workers:
            self.router.send_multipart([identity, b"leave"])
        for socket in (self.router, self.queries, self.issued):
            socket.close()
        self.context.term()

    def stop(self):
        self.issued.send(b"")
        self.thread.join()
        for worker in sorted(self.workers.values(), key=lambda worker: worker.name):
            print(f"worker {worker.name} answered {worker.answered} samples")
        self.leave()


def measure(cluster, arguments):
    output = lg.LogOutputSettings()
    output.outdir = arguments.out
    output.copy_summary_to_stdout = True
    log = lg.LogSettings()
    log.log_output = output
    log.enable_trace = False  # a line for every query: hundreds of megabytes that nobody reads
    sut = lg.ConstructSUT(cluster.issue, lambda: None)
    library = lg.ConstructQSL(len(cluster.images), len(cluster.images), lambda _: None, lambda _: None)
    lg.StartTestWithLogSettings(sut, library, settings_of(arguments.scenario, arguments.mode, arguments.rate), log)
    lg.DestroyQSL(library)
    lg.DestroySUT(sut)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", type=str.lower, choices=SCENARIOS, required=True)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--rate", type=float, default=100, help="of Server, queries per second")
    parser.add_argument("--workers", type=int, required=True, help="how many will register")
    parser.add_argument("--wait", type=int, default=60, help="for them, in seconds")
    parser.add_argument("--port", type=int, default=12345)
    parser.add_argument("--out", required=True, help="where LoadGen's logs go")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    cluster = Cluster(arguments.port, arguments.workers, np.float32(load_digits().data[TRAINED:]))
    try:
        cluster.gather(arguments.wait)
    except Failure as failure:
        cluster.leave()
        sys.exit(f"error: {failure}")
    cluster.thread.start()
    measure(cluster, arguments)
    cluster.stop()


if __name__ == "__main__":
    main()
