"""Measures an inference server: requests at a fixed rate, the latency of each from the time when it was due, and the
throughput. A slow answer delays no other request, so that nothing hides in a queue of the client.

Writes result.json: completed, failed, duration (s), request_throughput (requests/s), accuracy (%), and the mean and
percentiles of the latency (ms).
"""

import argparse
import http.client
import json
import os
import queue
import threading
import time

import numpy as np


class Client:
    def __init__(self, arguments, images, labels):
        self.arguments, self.images, self.labels = arguments, images, labels
        self.due = queue.SimpleQueue()
        self.latencies, self.correct, self.failed = [], 0, 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work) for _ in range(arguments.connections)]

    def ask(self, connection, sample):
        connection.request("POST", "/predict", self.images[sample].tobytes())
        response = connection.getresponse()
        digit = response.read()
        if response.status != 200:
            raise http.client.HTTPException(f"status {response.status}")
        return int(digit)

    def work(self):
        connection = http.client.HTTPConnection(self.arguments.host, self.arguments.port, timeout=10)
        while (request := self.due.get()) is not None:
            at, number = request
            sample = number % len(self.images)
            try:
                correct = self.ask(connection, sample) == self.labels[sample]
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                with self.lock:
                    self.failed += 1
                    if self.failed <= 5:
                        print(f"request {number}: {error}", flush=True)
                continue
            latency = time.monotonic() - at
            with self.lock:
                self.latencies.append(latency)
                self.correct += bool(correct)

    def run(self):
        for thread in self.threads:
            thread.start()
        start = time.monotonic()
        for number in range(self.arguments.requests):
            at = start + number / self.arguments.rate
            time.sleep(max(0, at - time.monotonic()))
            self.due.put((at, number))
        for _ in self.threads:
            self.due.put(None)
        for thread in self.threads:
            thread.join()
        return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--test", required=True, help="images and labels")
    parser.add_argument("--rate", type=float, default=100, help="requests per second")
    parser.add_argument("--requests", type=int, default=900)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    test = np.load(arguments.test)
    client = Client(arguments, test["images"], test["labels"])
    duration = client.run()
    latencies = 1000 * np.array(client.latencies or [float("inf")])
    completed = len(client.latencies)
    result = {
        "completed": completed,
        "failed": client.failed,
        "duration": duration,
        "request_throughput": completed / duration,
        "accuracy": 100 * client.correct / arguments.requests,
        "mean_latency_ms": float(latencies.mean()),
    }
    result |= {f"p{p}_latency_ms": float(np.percentile(latencies, p)) for p in (50, 90, 99)}
    os.makedirs(arguments.out, exist_ok=True)
    with open(f"{arguments.out}/result.json", "w") as file:
        json.dump(result, file, indent=1)
    for name, value in result.items():
        print(f"{name:>20} {value:.3f}")
    if client.failed:
        raise SystemExit(f"{client.failed} of {arguments.requests} requests failed")


if __name__ == "__main__":
    main()
