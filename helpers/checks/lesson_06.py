"""The checks of lesson 06: VGG."""

import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import vgg
from helpers.checks.report import exercise

IMAGE_SIZE, NUM_CLASSES = 224, 1000
KEEP = 0.9
# What each type of op is to a reader of the graph; other types are glue.
KINDS = {
    "Conv2D": "convolution", "BiasAdd": "bias", "Add": "bias", "AddV2": "bias",
    "Relu": "ReLU", "MaxPool": "max pool", "AvgPool": "average pool",
    "Reshape": "flatten", "MatMul": "matrix product", "SelectV2": "dropout",
    "Softmax": "softmax", "LRN": "normalization",
}
STACKS = (
    [(3, 1)], [(3, 1), (3, 1), (3, 1)], [(3, 1), (2, 2), (3, 1)],
    [(7, 2), (3, 2), (3, 1), (3, 1)], [(5, 3), (1, 1), (4, 2), (3, 1), (2, 2)],
)


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

    @property
    def steps(self) -> list[Step]:
        """What is compared of each op."""
        return [_step(op) for op in self.operations]


@exercise(
    "Exercise 1: vgg_net",
    "conv_layer(incoming, 64, 3, name=\"conv1_1\"), then conv1_2, then pool_layer; "
    "loops over CONFIGURATIONS[\"E\"] save typing.",
)
def check_vgg_net(attempt):
    """Compares the graph with that of `helpers.vgg.vgg_net`, layer by layer.

    Args:
      attempt: `(incoming float32 [batch, 224, 224, 3], keep_prob float32 [])` to
        logits `float32 [batch, 1000]`.
    """
    net = _built(attempt)
    yield ("returns a tensor", tf.is_tensor(net.logits),
           f"it returned {net.logits!r}, so there is nothing to compare yet.")
    yield ("of float32 logits, one row per picture and one column per class",
           net.logits.dtype == tf.float32
           and net.logits.shape.as_list() == [None, NUM_CLASSES],
           f"expected float32 [batch, {NUM_CLASSES}], got {net.logits.dtype.name} "
           f"{net.logits.shape}.")
    ours = _built(vgg.vgg_net)
    difference = _first_difference(ours, net)
    yield "every layer is that of VGG-19, in order", not difference, difference
    difference = _first_variable(ours.graph, net.graph)
    yield ("every kernel and bias has its name and shape", not difference, difference)
    count = _parameters(net.graph)
    yield (f"{_parameters(ours.graph):,} parameters in all",
           count == _parameters(ours.graph), f"yours has {count:,}: a layer too many?")
    wrong = _wrong_spread(net.graph)
    yield ("the kernels have the spread of He's initializer", not wrong, wrong)
    kept = _kept_shares(net)
    yield (f"with keep_prob {KEEP}, dropout keeps that share",
           all(share is not None and abs(share - KEEP) < 0.05 for share in kept),
           "one dropout op pays no heed to keep_prob." if None in kept else
           f"the shares kept are {kept}: the argument called rate is the share that "
           "is dropped.")


@exercise(
    "Exercise 2: receptive_field",
    "begin with 1 pixel and a step of 1; a kernel of size k adds k - 1 steps, a "
    "stride makes the step longer.",
)
def check_receptive_field(attempt):
    """Compares with how far the gradient of one output value reaches.

    Args:
      attempt: a list of `(kernel size, stride)` to the pixels seen along one axis.
    """
    yield ("no layers see one pixel", attempt([]) == 1,
           f"for an empty list it returned {attempt([])!r}.")
    for layers in STACKS:
        seen, found = _seen(layers), attempt(list(layers))
        yield (f"{layers} sees {seen}", found == seen,
               f"you returned {found!r}: after each layer multiply the step by its "
               "stride, and count a layer's own stride only for later layers.")
    layers = [pair for block in vgg.CONFIGURATIONS["E"]
              for pair in [(size, 1) for size in block] + [(2, 2)]]
    seen, found = _seen(layers), attempt(layers)
    yield (f"pool5 of VGG-19 sees {seen}: more than its whole picture",
           found == seen, f"you returned {found!r}.")


def _built(vgg_net) -> Net:
    """Calls the attempt in a graph of its own; no variable gets a value."""
    with tf.Graph().as_default() as graph:
        images = tf1.placeholder(
            tf.float32, [None, IMAGE_SIZE, IMAGE_SIZE, 3], "images"
        )
        keep_prob = tf1.placeholder_with_default(1.0, [], "keep_prob")
        logits = vgg_net(images, keep_prob)
    operations = []
    if tf.is_tensor(logits):
        between = _descendants(images.op) & _ancestors(logits.op)
        operations = [op for op in graph.get_operations()
                      if op in between and op.type in KINDS]
    return Net(graph, keep_prob, logits, operations)


def _descendants(op) -> set:
    found, todo = set(), [op]
    while todo:
        for tensor in todo.pop().outputs:
            new = [user for user in tensor.consumers() if user not in found]
            found.update(new)
            todo += new
    return found


def _ancestors(op) -> set:
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


def _first_difference(ours: Net, theirs: Net) -> str:
    """Names the first layer that differs; empty if none does."""
    for op, want, got in zip(ours.operations, ours.steps, theirs.steps, strict=False):
        if want != got:
            return f"{op.name.split('/')[0]}: expected {want}; yours has {got}."
    want, got = len(ours.steps), len(theirs.steps)
    if got < want:
        op = ours.operations[got]
        return f"{op.name.split('/')[0]}: the {ours.steps[got].kind} is missing."
    if got > want:
        return f"after fc8: there is a {theirs.steps[want].kind} too many."
    return ""


def _variables(graph: tf.Graph) -> dict[str, tuple]:
    variables = graph.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES)
    return {v.op.name: tuple(v.shape.as_list()) for v in variables}


def _first_variable(ours: tf.Graph, theirs: tf.Graph) -> str:
    """Names the first variable that is absent or of another shape."""
    found = _variables(theirs)
    for name, shape in _variables(ours).items():
        if name not in found:
            return f"there is no {name}; the first of yours is {next(iter(found), '')}."
        if found[name] != shape:
            return f"{name}: expected shape {shape}, yours is {found[name]}."
    return ""


def _parameters(graph: tf.Graph) -> int:
    return sum(math.prod(shape) for shape in _variables(graph).values())


def _wrong_spread(graph: tf.Graph) -> str:
    """Draws three kernels from their initializers and compares the spread."""
    with graph.as_default(), tf1.Session() as session:
        values = {v.op.name: v.initial_value for v in tf1.trainable_variables()}
        for name in ("conv1_2/kernel", "conv3_1/kernel", "fc8/kernel"):
            kernel = session.run(values[name])
            want = math.sqrt(2.0 / math.prod(kernel.shape[:-1]))
            if not 0.95 < kernel.std() / want < 1.05:
                return (f"{name}: expected a standard deviation of {want:.4f}, "
                        f"yours is {kernel.std():.4f}.")
    return ""


def _kept_shares(net: Net) -> list[float | None]:
    """Feeds ones into each dropout, which needs no weights."""
    shares = []
    with tf1.Session(graph=net.graph) as session:
        for before, op in zip(net.operations, net.operations[1:], strict=False):
            if op.type != "SelectV2":
                continue
            if net.keep_prob.op not in _ancestors(op):
                shares.append(None)
                continue
            start, end = before.outputs[0], op.outputs[0]
            ones = np.ones([1, *start.shape[1:]], np.float32)
            values = session.run(end, {start: ones, net.keep_prob: KEEP})
            shares.append(round(float((values > 0).mean()), 2))
    return shares


def _seen(layers) -> int:
    """How far the gradient of one value reaches, with kernels of ones."""
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        pixels = tf.zeros([1, 512, 1, 1])
        outgoing = pixels
        for size, stride in layers:
            ones = tf.ones([size, 1, 1, 1])
            outgoing = tf.nn.conv2d(outgoing, ones, [stride, 1], "VALID")
        gradient = session.run(tf1.gradients(outgoing[0, 0, 0, 0], pixels)[0])
    reached = np.flatnonzero(gradient)
    return int(reached[-1] - reached[0] + 1)
