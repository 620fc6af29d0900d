"""A small benchmark with the real LoadGen: recognise handwritten digits.

The data set is scikit-learn's digits (1,797 images of 8 x 8 pixels, shipped with the package). A support vector
machine learns the first 897 and is asked about the last 900. Training takes 50 ms and involves no chance, so it is
done at every start.
"""

import argparse
import array
import os
import queue
import sys
import threading
import time

import mlperf_loadgen as lg
from sklearn.datasets import load_digits
from sklearn.svm import SVC

TRAINED = 897
SCENARIOS = {
    "offline": lg.TestScenario.Offline,
    "server": lg.TestScenario.Server,
    "singlestream": lg.TestScenario.SingleStream,
}
MODES = {"performance": lg.TestMode.PerformanceOnly, "accuracy": lg.TestMode.AccuracyOnly}


def settings_of(scenario, mode, length):
    """LoadGen's settings. The seeds are fixed, so every machine gets the same queries at the same times."""
    settings = lg.TestSettings()
    settings.scenario = SCENARIOS[scenario]
    settings.mode = MODES[mode]
    settings.qsl_rng_seed = 2085463073848966840
    settings.sample_index_rng_seed = 2747215439041700203
    settings.schedule_rng_seed = 16159082839903944936
    if scenario == "offline":
        # A fixed amount of work: too much for any one machine to end within the second that it must last.
        settings.min_query_count = 300_000
        settings.min_duration_ms = 1_000
    elif scenario == "server":
        # Slow enough for any machine. What is measured is whether every answer comes, and in time.
        settings.server_target_qps = 100
        settings.server_target_latency_ns = 1_000_000_000
        settings.min_duration_ms = {"short": 20_000, "long": 60_000}[length]
    else:
        # Only says how many queries LoadGen prepares: it must not be more than a fast machine takes.
        settings.single_stream_expected_latency_ns = 20_000
        settings.min_duration_ms = {"short": 5_000, "long": 15_000}[length]
    return settings


class Workers:
    """The system under test: threads that classify batches from a queue."""

    def __init__(self, model, images, batch, count):
        self.model, self.images, self.batch = model, images, batch
        self.queue = queue.SimpleQueue()
        self.done = 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def issue(self, samples):
        """Called by LoadGen. It must not wait: in Server, queries come while others are being answered."""
        for start in range(0, len(samples), self.batch):
            self.queue.put(samples[start : start + self.batch])

    def work(self):
        while (samples := self.queue.get()) is not None:
            labels = self.model.predict(self.images[[sample.index for sample in samples]])
            answers = array.array("i", labels.tolist())  # kept until LoadGen has copied them
            address, size = answers.buffer_info()[0], answers.itemsize
            lg.QuerySamplesComplete(
                [lg.QuerySampleResponse(s.id, address + i * size, size) for i, s in enumerate(samples)]
            )
            with self.lock:
                self.done += len(samples)

    def stop(self):
        for _ in self.threads:
            self.queue.put(None)
        for thread in self.threads:
            thread.join()


def report_progress(workers, stop):
    """A line every five seconds, so that whoever follows the log sees it move."""
    start = time.monotonic()
    while not stop.wait(5):
        print(f"{time.monotonic() - start:5.0f} s  {workers.done} samples answered", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", type=str.lower, choices=SCENARIOS, required=True)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--length", choices=["short", "long"], default="short", help="of server and singlestream")
    parser.add_argument("--out", required=True, help="where LoadGen's logs go")
    arguments = parser.parse_args()

    digits = load_digits()
    images = digits.data[TRAINED:]
    model = SVC(gamma=0.001).fit(digits.data[:TRAINED], digits.target[:TRAINED])
    print(f"trained on {TRAINED} images; {arguments.scenario}, {arguments.mode}, {len(images)} images", flush=True)

    os.makedirs(arguments.out, exist_ok=True)
    log = lg.LogSettings()
    log.log_output.outdir = arguments.out
    log.log_output.copy_summary_to_stdout = True
    log.enable_trace = False  # a line for every query: hundreds of megabytes that nobody reads

    offline = arguments.scenario == "offline"
    workers = Workers(model, images, batch=500 if offline else 1, count=os.cpu_count() if offline else 1)
    stop = threading.Event()
    progress = threading.Thread(target=report_progress, args=(workers, stop))
    progress.start()

    sut = lg.ConstructSUT(workers.issue, lambda: None)
    qsl = lg.ConstructQSL(len(images), len(images), lambda _: None, lambda _: None)
    lg.StartTestWithLogSettings(sut, qsl, settings_of(arguments.scenario, arguments.mode, arguments.length), log)

    # Only now: the wheel crashes when a thread that has completed samples ends before StartTest returns.
    workers.stop()
    stop.set()
    progress.join()
    lg.DestroyQSL(qsl)
    lg.DestroySUT(sut)
    print(f"done: logs in {arguments.out}")


if __name__ == "__main__":
    sys.exit(main())
