"""Processor time of ONNX Runtime with handwritten digits: other programs on the machine take none of it."""

import time

import numpy as np

start = time.process_time()
import onnxruntime  # noqa: E402

imported = time.process_time()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession("/model/digits.onnx", options, providers=["CPUExecutionProvider"])
loaded = time.process_time()

images = np.load("/model/digits.npz")["images"]
batch = images[np.arange(500) % len(images)]
times = []
for _ in range(100):
    begin = time.process_time()
    session.run(None, {"pixels": batch})
    times.append(time.process_time() - begin)
print(f"ONNX Runtime {onnxruntime.__version__}")
print(f"start: {(loaded - start) * 1000:.2f} ms (import {(imported - start) * 1000:.2f} ms)")
# The first ten batches allocate memory and page in code.
print(f"speed: {len(batch) / np.median(times[10:]):.0f} samples/s")
