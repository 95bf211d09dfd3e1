"""A reader's graph of a net, op by op: what the check of lesson 06 compares."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf
import tensorflow.compat.v1 as tf1

IMAGE_SIZE = 224
# What each type of op is to a reader of the graph; other types are glue.
KINDS = {
    "Conv2D": "convolution", "BiasAdd": "bias", "Add": "bias", "AddV2": "bias",
    "Relu": "ReLU", "MaxPool": "max pool", "AvgPool": "average pool",
    "Reshape": "flatten", "MatMul": "matrix product", "SelectV2": "dropout",
    "Softmax": "softmax", "LRN": "normalization",
}


class Step(NamedTuple):
    """One op on the way from the pictures to the logits, as it is compared."""

    kind: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    output: tuple[int | None, ...]

    def __str__(self) -> str:
        window = "x".join(map(str, self.kernel[:2]))
        output = "x".join("?" if n is None else str(n) for n in self.output)
        named = {"convolution": f"{window} ", "max pool": f"{window} ",
                 "average pool": f"{window} "}
        moves = f" with strides {self.strides}" if max(self.strides, default=1) > 1 \
            else ""
        return f"{named.get(self.kind, '')}{self.kind}{moves} to {output}"


class Net(NamedTuple):
    """A graph from a placeholder of pictures to logits."""

    graph: tf.Graph
    keep_prob: tf.Tensor
    logits: tf.Tensor
    operations: list[tf.Operation]
    error: Exception | None

    @property
    def steps(self) -> list[Step]:
        """What is compared of each op; ReLU first where the order has no effect."""
        steps = [_step(op) for op in self.operations]
        for k in range(1, len(steps) - 1):
            if steps[k].kind in ("max pool", "dropout") and steps[k + 1].kind == "ReLU":
                relu = steps[k + 1]._replace(output=steps[k - 1].output)
                steps[k : k + 2] = [relu, steps[k]]
        return steps


def built(vgg_net: Callable) -> Net:
    """Calls the attempt in a graph of its own; no variable gets a value.

    Args:
      vgg_net: `(incoming float32 [batch, 224, 224, 3], keep_prob float32 [])` to
        logits. An error that it raises is kept in the result.
    """
    with tf.Graph().as_default() as graph:
        images = tf1.placeholder(
            tf.float32, [None, IMAGE_SIZE, IMAGE_SIZE, 3], "images"
        )
        keep_prob = tf1.placeholder_with_default(1.0, [], "keep_prob")
        logits = error = None
        try:
            logits = vgg_net(images, keep_prob)
        except Exception as caught:  # the graph up to here tells what went wrong
            error = caught
    operations = []
    if logits is not None and tf.is_tensor(logits):
        between = _descendants(images.op) & needed_ops(logits.op)
        operations = [op for op in graph.get_operations()
                      if op in between and op.type in KINDS]
    return Net(graph, keep_prob, logits, operations, error)


def wrong_padding(graph: tf.Graph) -> str:
    """Names the first convolution that loses the rows and columns at the edge."""
    for op in graph.get_operations():
        if op.type == "Conv2D" and op.get_attr("padding") != b"SAME":
            padding = op.get_attr("padding").decode()
            return (f"{op.name.split('/')[0]}: its padding is {padding}, so the "
                    "picture shrinks; in VGG only pools shrink it.")
    return ""


def _descendants(op) -> set:
    found, todo = set(), [op]
    while todo:
        for tensor in todo.pop().outputs:
            new = [user for user in tensor.consumers() if user not in found]
            found.update(new)
            todo += new
    return found


def needed_ops(op: tf.Operation) -> set:
    """Returns an op and all ops that it needs."""
    found, todo = {op}, [op]
    while todo:
        new = [tensor.op for tensor in todo.pop().inputs if tensor.op not in found]
        found.update(new)
        todo += new
    return found


def _step(op) -> Step:
    kind, kernel, strides = KINDS[op.type], (), ()
    if op.type == "Conv2D":
        kernel = tuple(op.inputs[1].shape.as_list())
        strides = tuple(op.get_attr("strides")[1:3])
    elif op.type in ("MaxPool", "AvgPool"):
        kernel = tuple(op.get_attr("ksize")[1:3])
        strides = tuple(op.get_attr("strides")[1:3])
    return Step(kind, kernel, strides, tuple(op.outputs[0].shape.as_list()[1:]))
