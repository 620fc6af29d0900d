"""LoadGen as the client: its queries go to the inference server over HTTP (the pattern of LoadGen over the network, in
which the system under test is at the other end of a connection).
"""

import argparse
import array
import http.client
import os
import queue
import threading

import mlperf_loadgen as lg
import numpy as np


def settings_of():
    """LoadGen's settings. The seeds are fixed, so every machine gets the same queries at the same times."""
    settings = lg.TestSettings()
    settings.scenario = lg.TestScenario.Server
    settings.mode = lg.TestMode.PerformanceOnly
    settings.qsl_rng_seed = 2085463073848966840
    settings.sample_index_rng_seed = 2747215439041700203
    settings.schedule_rng_seed = 16159082839903944936
    # Slow enough for any machine. What is measured is whether every answer comes, and in time.
    settings.server_target_qps = 100
    settings.server_target_latency_ns = 1_000_000_000
    settings.min_duration_ms = 10_000
    return settings


class Proxy:
    """The system under test as LoadGen sees it: connections to the real one."""

    def __init__(self, host, port, images, count):
        self.host, self.port, self.images = host, port, images
        self.queue = queue.SimpleQueue()
        self.threads = [threading.Thread(target=self.work) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def issue(self, samples):
        for sample in samples:
            self.queue.put(sample)

    def work(self):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        while (sample := self.queue.get()) is not None:
            connection.request("POST", "/predict", self.images[sample.index].tobytes())
            answer = array.array("i", [int(connection.getresponse().read())])
            address, _ = answer.buffer_info()
            lg.QuerySamplesComplete([lg.QuerySampleResponse(sample.id, address, answer.itemsize)])

    def stop(self):
        for _ in self.threads:
            self.queue.put(None)
        for thread in self.threads:
            thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--test", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    images = np.load(arguments.test)["images"]
    os.makedirs(arguments.out, exist_ok=True)
    proxy = Proxy(arguments.host, arguments.port, images, 16)
    output = lg.LogOutputSettings()
    output.outdir = arguments.out
    output.copy_summary_to_stdout = True
    log = lg.LogSettings()
    log.log_output = output
    sut = lg.ConstructSUT(proxy.issue, lambda: None)
    library = lg.ConstructQSL(len(images), len(images), lambda _: None, lambda _: None)
    lg.StartTestWithLogSettings(sut, library, settings_of(), log)
    proxy.stop()
    lg.DestroyQSL(library)
    lg.DestroySUT(sut)


if __name__ == "__main__":
    main()
