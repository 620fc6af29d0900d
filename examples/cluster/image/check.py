"""Says how many digits were recognised, from LoadGen's accuracy log."""

import json
import struct
import sys

from sklearn.datasets import load_digits

from worker import TRAINED

path = sys.argv[1]
labels = load_digits().target[TRAINED:]
with open(path) as log:
    answers = {entry["qsl_idx"]: struct.unpack("<i", bytes.fromhex(entry["data"]))[0] for entry in json.load(log)}

missing = len(labels) - len(answers)
if missing:
    sys.exit(f"{path}: {missing} of {len(labels)} samples have no answer")
good = sum(int(answer == labels[index]) for index, answer in answers.items())
print(f"accuracy={100 * good / len(labels):.3f}%, good={good}, total={len(labels)}")
