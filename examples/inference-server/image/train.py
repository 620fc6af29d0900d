"""Trains the model that is served: a classifier for handwritten digits, written as ONNX.

The data set is scikit-learn's digits (1,797 images of 8 x 8 pixels, shipped with the package). Kernel ridge regression
learns the first 897; the last 900 are what clients ask about. Its weights solve a system of linear equations, so
training involves no chance, and every machine gets the same classifier.
"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

TRAINED = 897
GAMMA = 0.25
RIDGE = 0.01


def weights_of(images, labels):
    """One column a digit: +1 for its images, -1 for all others."""
    squares = (images**2).sum(axis=1)
    kernel = np.exp(-GAMMA * (squares[:, None] + squares[None, :] - 2 * images @ images.T))
    targets = np.where(labels[:, None] == np.arange(10), 1.0, -1.0)
    return np.linalg.solve(kernel + RIDGE * np.eye(len(images)), targets)


def as_onnx(images, weights):
    """exp(-gamma |x - y|^2) to every image y that was learned, times the weights; the digit with the highest score.

    The factor exp(-gamma |x|^2) is the same for all digits of an image, and left out."""
    constants = {
        "learned": 2 * GAMMA * images.T,
        "squares": -GAMMA * (images**2).sum(axis=1),
        "weights": weights,
    }
    nodes = [
        helper.make_node("Gemm", ["images", "learned", "squares"], ["near"]),
        helper.make_node("Exp", ["near"], ["kernel"]),
        helper.make_node("MatMul", ["kernel", "weights"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["digits"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 64])],
        [helper.make_tensor_value_info("digits", TensorProto.INT64, ["batch"])],
        [numpy_helper.from_array(np.float32(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def main():
    to_model, to_test = sys.argv[1:]
    digits = load_digits()
    images, labels = digits.data / 16, digits.target
    weights = weights_of(images[:TRAINED], labels[:TRAINED])
    os.makedirs(os.path.dirname(to_model), exist_ok=True)
    onnx.save(as_onnx(images[:TRAINED], weights), to_model)
    np.savez(to_test, images=np.float32(images[TRAINED:]), labels=labels[TRAINED:])


if __name__ == "__main__":
    main()
