"""Says how many digits were recognised, from LoadGen's accuracy log."""

import json
import struct
import sys

import numpy as np

path = sys.argv[1]
labels = np.load("/model/digits.npz")["labels"]
with open(path) as log:
    answers = {entry["qsl_idx"]: struct.unpack("<q", bytes.fromhex(entry["data"]))[0] for entry in json.load(log)}

missing = len(labels) - len(answers)
if missing:
    sys.exit(f"{path}: {missing} of {len(labels)} samples have no answer")
good = sum(int(answer == labels[index]) for index, answer in answers.items())
print(f"accuracy={100 * good / len(labels):.3f}%, good={good}, total={len(labels)}")
