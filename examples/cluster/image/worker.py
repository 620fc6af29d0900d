"""A worker: connects to the head, and recognises the handwritten digits that it sends.

It learns the first 897 images of scikit-learn's digits with a support vector machine, which takes 50 ms and involves no
chance: all workers have the same classifier. It may be started before the head. It ends when the head says so, on
SIGTERM, and when nothing was heard of the head for ten seconds.
"""

import argparse
import signal
import sys
import time

import numpy as np
import zmq
from sklearn.datasets import load_digits
from sklearn.svm import SVC

TRAINED = 897
INTERVAL = 1  # s between two signs of life, in both directions
SILENCE = 10  # s without any after which the other side is gone


def trained():
    digits = load_digits()
    return SVC(gamma=0.001).fit(digits.data[:TRAINED], digits.target[:TRAINED])


def serve(head, model):
    """Answers batches until the head says leave; the number of images."""
    answered, heard, told = 0, None, time.monotonic()
    while True:
        if head.poll(1000 * INTERVAL):
            kind, *body = head.recv_multipart()
            heard = time.monotonic()
            if kind == b"leave":
                return answered
            if kind == b"batch":
                number, images = body
                images = np.frombuffer(images, np.float32).reshape(-1, 64)
                head.send_multipart([b"answer", number, model.predict(images).astype(np.int32).tobytes()])
                answered += len(images)
        now = time.monotonic()
        # Before the head's first word there is no head that could be gone: it may be started later.
        if heard is not None and now - heard > SILENCE:
            sys.exit(f"error: nothing was heard of the head for {SILENCE} s")
        if now - told >= INTERVAL:
            head.send_multipart([b"alive"])
            told = now


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--head", required=True, help="its address and port")
    parser.add_argument("--node", required=True, help="the name of this worker")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    model = trained()
    context = zmq.Context()
    context.linger = 0
    head = context.socket(zmq.DEALER)
    head.connect(f"tcp://{arguments.head}")
    head.send_multipart([b"register", arguments.node.encode()])
    print(f"worker {arguments.node}: ready for the head at {arguments.head}", flush=True)
    answered = serve(head, model)
    print(f"worker {arguments.node}: {answered} images, and the head said leave", flush=True)


if __name__ == "__main__":
    main()
