#!/usr/bin/env python3
"""Runs a script of MLPerf Inference's reference implementation on one execution provider of ONNX Runtime.

    EXECUTION_PROVIDER=migraphx python3 on_provider.py SCRIPT [ARGUMENT...]

The reference's scripts name CUDAExecutionProvider themselves (vision) or take it from the environment (language).
They are run as they are; what is different is the class that they make their sessions with:

- it is given that provider, whatever the script asked for, and says which providers the session has got;
- a session whose first provider is another one ends the run: ONNX Runtime only warns where a provider is missing
  or fails to start, and goes on with the CPU;
- so does an inference that fails: classification_and_detection answers LoadGen with an empty response, which is
  counted like any other, and bert with none, for which LoadGen waits for ever;
- it runs every batch size of WARM_BATCHES (for example 1,8,16) once before it is handed out: MIGraphX and TensorRT
  compile for each shape, which must not happen in the timed part.

Exit codes besides the script's own: 3 not on that provider, 4 an inference failed.
"""

import json
import os
import runpy
import sys

import numpy
import onnxruntime

PROVIDERS = {
    "cpu": ["CPUExecutionProvider"],
    "cuda": ["CUDAExecutionProvider"],
    # What TensorRT does not take, CUDA does.
    "tensorrt": ["TensorrtExecutionProvider", "CUDAExecutionProvider"],
    "rocm": ["ROCMExecutionProvider"],
    "migraphx": ["MIGraphXExecutionProvider"],
}
# What decides a figure besides the provider's name.
SETTINGS = ("ORT_", "MIGRAPHX_", "MIOPEN_", "HIP_", "HSA_", "ROCR_", "CUDA_", "TRT_", "OMP_NUM_THREADS")
TYPES = {
    "tensor(float)": numpy.float32,
    "tensor(float16)": numpy.float16,
    "tensor(int64)": numpy.int64,
    "tensor(int32)": numpy.int32,
}


def stop(code, message):
    """Ends the process from any thread: the reference's and LoadGen's own would swallow an exception."""
    print(f"on_provider.py: {message}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(code)


def session_class(wanted, warm_batches):
    class Session(onnxruntime.InferenceSession):
        def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **others):
            super().__init__(path_or_bytes, sess_options, providers=wanted, **others)
            # Without this, a provider that fails later is replaced by the CPU in silence.
            self.disable_fallback()
            got = self.get_providers()
            print(f"on_provider.py: session on {', '.join(got)}", flush=True)
            print(f"on_provider.py: options {json.dumps(self.get_provider_options(), sort_keys=True)}", flush=True)
            if got[0] != wanted[0]:
                stop(3, f"the session is on {got[0]}, asked for {wanted[0]}")
            for batch in warm_batches:
                self.warm(batch)

        def warm(self, batch):
            feed = {}
            for value in self.get_inputs():
                shape = [batch if index == 0 and not isinstance(size, int) else size for index, size in enumerate(value.shape)]
                if value.type not in TYPES or not all(isinstance(size, int) for size in shape):
                    stop(3, f"cannot warm input {value.name} of {value.type} {value.shape}: leave WARM_BATCHES empty")
                feed[value.name] = numpy.zeros(shape, TYPES[value.type])
            self.run(None, feed)
            print(f"on_provider.py: warmed batch {batch}", flush=True)

        def run(self, output_names, input_feed, run_options=None):
            try:
                return super().run(output_names, input_feed, run_options)
            except Exception as error:
                stop(4, f"an inference failed: {error}")

    return Session


def main():
    provider = os.environ.get("EXECUTION_PROVIDER", "")
    if len(sys.argv) < 2 or provider not in PROVIDERS:
        stop(2, f"usage: EXECUTION_PROVIDER={'|'.join(PROVIDERS)} on_provider.py SCRIPT [ARGUMENT...]")
    wanted, script = PROVIDERS[provider], sys.argv[1]
    available = onnxruntime.get_available_providers()
    print(f"on_provider.py: ONNX Runtime {onnxruntime.__version__} with {', '.join(available)}", flush=True)
    for name in sorted(os.environ):
        if name.startswith(SETTINGS):
            print(f"on_provider.py: {name}={os.environ[name]}", flush=True)
    if wanted[0] not in available:
        stop(3, f"this build of ONNX Runtime has no {wanted[0]}")
    warm_batches = [int(batch) for batch in os.environ.get("WARM_BATCHES", "").split(",") if batch]
    onnxruntime.InferenceSession = session_class(wanted, warm_batches)
    # As the interpreter does for a script that it is given.
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
