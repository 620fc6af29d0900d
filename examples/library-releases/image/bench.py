"""The real LoadGen asks one thread of ONNX Runtime for handwritten digits."""

import argparse
import os

import mlperf_loadgen as lg
import numpy as np
import onnxruntime

BATCH = 500  # samples at once in Offline
SCENARIOS = {"offline": lg.TestScenario.Offline, "singlestream": lg.TestScenario.SingleStream}
MODES = {"performance": lg.TestMode.PerformanceOnly, "accuracy": lg.TestMode.AccuracyOnly}


def settings_of(arguments):
    """LoadGen's settings. The seeds are fixed, so every release gets the same samples in the same order."""
    settings = lg.TestSettings()
    settings.scenario = SCENARIOS[arguments.scenario]
    settings.mode = MODES[arguments.mode]
    settings.qsl_rng_seed = 2085463073848966840
    settings.sample_index_rng_seed = 2747215439041700203
    settings.schedule_rng_seed = 16159082839903944936
    if arguments.scenario == "offline":
        # A fixed amount of work, the same for all releases, that takes any of them longer than LoadGen's minimum.
        settings.min_query_count = arguments.samples
        settings.min_duration_ms = 100
    else:
        # Only says how many queries LoadGen prepares: it must not be more than a fast machine takes.
        settings.single_stream_expected_latency_ns = 20_000
        settings.min_duration_ms = 1_000 * arguments.seconds
    return settings


def session():
    """One thread: what is compared is the library's code, not how it shares a machine with others."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession("/model/digits.onnx", options, providers=["CPUExecutionProvider"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", type=str.lower, choices=SCENARIOS, required=True)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--samples", type=int, default=1, help="how many Offline asks for")
    parser.add_argument("--seconds", type=int, default=1, help="how long SingleStream lasts at least")
    parser.add_argument("--out", required=True, help="where LoadGen's logs go")
    arguments = parser.parse_args()

    images = np.load("/model/digits.npz")["images"]
    model = session()
    batch = BATCH if arguments.scenario == "offline" else 1
    print(f"ONNX Runtime {onnxruntime.__version__}; {arguments.scenario}, {arguments.mode}, batches of {batch}", flush=True)
    for start in range(0, 10 * batch, batch):  # memory is allocated and code is paged in before time is taken
        model.run(None, {"pixels": images[np.arange(start, start + batch) % len(images)]})

    def issue(samples):
        """Answers before it returns: in Offline everything is one query, in SingleStream the next one waits for this."""
        for start in range(0, len(samples), batch):
            part = samples[start : start + batch]
            (digits,) = model.run(None, {"pixels": images[[sample.index for sample in part]]})
            address, size = digits.ctypes.data, digits.itemsize
            lg.QuerySamplesComplete(
                [lg.QuerySampleResponse(sample.id, address + i * size, size) for i, sample in enumerate(part)]
            )

    os.makedirs(arguments.out, exist_ok=True)
    log = lg.LogSettings()
    log.log_output.outdir = arguments.out
    log.log_output.copy_summary_to_stdout = True
    log.enable_trace = False  # a line for every query: hundreds of megabytes that nobody reads

    sut = lg.ConstructSUT(issue, lambda: None)
    qsl = lg.ConstructQSL(len(images), len(images), lambda _: None, lambda _: None)
    lg.StartTestWithLogSettings(sut, qsl, settings_of(arguments), log)
    lg.DestroyQSL(qsl)
    lg.DestroySUT(sut)


if __name__ == "__main__":
    main()
