"""Writes what all three images have in common: handwritten digits, and a network of 8-bit integers that reads them.

The data set is scikit-learn's digits (1,797 images of 8 x 8 pixels): 897 to learn from, 900 to ask about. The first two
layers are random numbers with a fixed seed, the last is solved by least squares, so that "training" takes a second.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

TRAINED = 897
WIDTH = 2048  # 4 MiB of weights in the second layer, where nearly all of the time goes
OPSET, IR_VERSION = 15, 8  # what the oldest of the releases reads


def layers_of(images, labels):
    """The three layers' weights and biases."""
    random = np.random.default_rng(0)
    first = random.standard_normal((images.shape[1], WIDTH)) / 4
    bias = random.standard_normal(WIDTH)
    second = random.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH)
    hidden = np.maximum(np.maximum(images @ first + bias, 0) @ second, 0)
    # Ridge regression in its dual form: as many equations as images, not as many as features.
    dual = np.linalg.solve(hidden @ hidden.T + np.eye(len(images)), np.eye(10)[labels])
    return [(first, bias), (second, np.zeros(WIDTH)), (hidden.T @ dual, np.zeros(10))]


def layer(number, weights, bias, source):
    """`source @ weights + bias`, multiplied in 8-bit integers; the input's scale is found for each batch."""
    name = lambda part: f"{part}{number}"
    scale = np.float32(np.abs(weights).max() / 127)
    constants = [
        numpy_helper.from_array(np.rint(weights / scale).astype(np.int8), name("weights")),
        numpy_helper.from_array(scale, name("weights_scale")),
        numpy_helper.from_array(np.int8(0), name("weights_zero")),
        numpy_helper.from_array(bias.astype(np.float32), name("bias")),
    ]
    nodes = [
        helper.make_node("DynamicQuantizeLinear", [source], [name("integers"), name("scale"), name("zero")]),
        helper.make_node(
            "MatMulInteger", [name("integers"), name("weights"), name("zero"), name("weights_zero")], [name("product")]
        ),
        helper.make_node("Cast", [name("product")], [name("cast")], to=TensorProto.FLOAT),
        helper.make_node("Mul", [name("scale"), name("weights_scale")], [name("both_scales")]),
        helper.make_node("Mul", [name("cast"), name("both_scales")], [name("scaled")]),
        helper.make_node("Add", [name("scaled"), name("bias")], [name("sum")]),
    ]
    return nodes, constants


def model_of(layers):
    nodes, constants, source = [], [], "pixels"
    for number, (weights, bias) in enumerate(layers):
        if number:
            nodes.append(helper.make_node("Relu", [source], [f"rectified{number}"]))
            source = f"rectified{number}"
        its_nodes, its_constants = layer(number, weights, bias, source)
        nodes += its_nodes
        constants += its_constants
        source = f"sum{number}"
    nodes.append(helper.make_node("ArgMax", [source], ["digit"], axis=1, keepdims=0))
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [None, 64])],
        [helper.make_tensor_value_info("digit", TensorProto.INT64, [None])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model


def main():
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True)
    digits = load_digits()
    images = digits.data / 16
    onnx.save(model_of(layers_of(images[:TRAINED], digits.target[:TRAINED])), directory / "digits.onnx")
    np.savez(directory / "digits.npz", images=images[TRAINED:].astype(np.float32), labels=digits.target[TRAINED:])


if __name__ == "__main__":
    main()
