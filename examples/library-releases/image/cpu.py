"""Processor time and memory of ONNX Runtime with handwritten digits: other programs on the machine take none of either."""

import resource
import subprocess
import sys
import time


def session():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession("/model/digits.onnx", options, providers=["CPUExecutionProvider"])


def start():
    """Milliseconds and KiB to import the library and to load the model, in this process."""
    import numpy  # noqa: F401, which is the same in all images

    begin, before = time.process_time(), peak_memory()
    session()
    return (time.process_time() - begin) * 1000, peak_memory() - before


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def speed():
    """Samples per second, in batches of 500."""
    import numpy as np

    images = np.load("/model/digits.npz")["images"]
    batch = images[np.arange(500) % len(images)]
    model = session()
    times = []
    for _ in range(100):
        begin = time.process_time()
        model.run(None, {"pixels": batch})
        times.append(time.process_time() - begin)
    # The first ten allocate memory and page in code.
    return len(batch) / np.median(times[10:])


def main():
    if sys.argv[1:] == ["start"]:
        return print(*start())
    starts = int(sys.argv[1])
    command = [sys.executable, __file__, "start"]
    # The first one reads the library from the disk; busy neighbours only add to the others.
    readings = [map(float, subprocess.check_output(command).split()) for _ in range(starts)]
    milliseconds, kibibytes = map(min, zip(*readings))
    print(f"start: {milliseconds:.2f} ms, {kibibytes / 1024:.2f} MiB")
    print(f"speed: {speed():.0f} samples/s")


if __name__ == "__main__":
    main()
