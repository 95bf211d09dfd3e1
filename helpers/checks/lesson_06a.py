"""The checks of lesson 06a: VGG-19 by hand, and how far a layer sees."""

import math

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, close, drawn, exercise, shown
from helpers.vgg import BLOCK_WIDTHS, CONFIGURATIONS

SIZES = ((32, 32), (64, 32), (224, 224), (41, 100))
KEEP = 0.6
PIXELS = 2048  # more than any drawn stack sees


@exercise(
    "Exercise 1: vgg_net",
    "CONFIGURATIONS[\"E\"] lists the kernel sizes block by block; the table of the "
    "lesson has every layer in order.",
    "outgoing = conv_layer(incoming, 64, 3, name=\"conv1_1\"). What is left: the other "
    "layers of the table, a pool after each block, and the linear fc8.",
)
def check_vgg_net(attempt):
    """Compares names and shapes, then logits with Keras's VGG-19 of equal weights.

    Args:
      attempt: `(incoming float32 [batch, height, width, 3], keep_prob)` to logits
        `float32 [batch, 1000]`.
    """
    for case, size in enumerate(SIZES):
        scope = ["", "net", "a/b", "conv1_1"][case]
        graph, logits, _ = _built(attempt, size, scope, [1.0, 0.5][case % 2])
        where = f"for pictures of {size[0]} x {size[1]}: "
        yield ("returns float32 logits of 1000 classes",
               tf.is_tensor(logits) and logits.dtype == tf.float32
               and logits.shape.as_list() == [None, 1000],
               f"{where}it returned {logits!r}")
        due = _shapes(size, scope)
        with graph.as_default():
            found = {v.op.name: v.shape.as_list() for v in tf1.trainable_variables()}
        odd = [name for name in {**due, **found} if due.get(name) != found.get(name)]
        yield ("every kernel and bias of VGG-19 is there, in the scope that is open",
               not odd, where + f"{odd[:1]}: "
               + shown(due.get(*odd[:1]), found.get(*odd[:1])) if odd else "")
    spread = _spread(graph)
    yield ("kernels begin with He's spread, biases at zero",
           all(0.9 < value < 1.1 for value in spread.values()),
           f"spread, in parts of He's: {spread}")
    due, found = _both_logits(attempt)
    yield ("with equal weights its logits are those of Keras's VGG-19",
           close(found, due, 1e-3, 1e-3 * np.abs(due).max()),
           f"all names fit, so an activation, a pool or the order differs: "
           f"{shown(due[0, :3], found[0, :3])}")
    for kept in (KEEP, None):
        values = _dropped(attempt, kept)
        share, due = float((values != 0).mean()), KEEP**2
        yield ("fc6 and fc7, and no other layer, keep the share keep_prob",
               abs(share - due) < 0.05
               and np.allclose(values[values != 0], 1 / due, rtol=1e-4),
               f"keep_prob {KEEP}, all values 1 before dropout: {due:.2f} of "
               f"the values are to come through both, each {1 / due:.2f}; yours: "
               f"{share:.2f}, up to {values.max():.2f}")


@exercise(
    "Exercise 2: receptive_field",
    "Two numbers are carried from layer to layer: the pixels seen so far, and the "
    "distance in pixels between two neighbours.",
    "pixels, step = 1, 1",
    "In each layer: pixels += (size - 1) * step, then step *= stride",
)
def check_receptive_field(attempt):
    """Compares with how far the gradient of one output value reaches.

    Args:
      attempt: a list of `(kernel size, stride)` to the pixels seen along one axis.
    """
    whole = [pair for block in CONFIGURATIONS["E"]
             for pair in [(size, 1) for size in block] + [(2, 2)]]
    for layers in (*drawn(_stack), whole):
        given, due = list(layers), _seen(layers)
        found = attempt(given)
        yield ("sees as far as the gradient reaches", close(found, due),
               f"{layers}: {shown(due, found)}")
        yield "leaves the list as it was", given == layers, f"{layers} became {given}"


def _stack(rng: np.random.Generator, size: int) -> list[tuple[int, int]]:
    kernels, strides = rng.integers(1, 6, size // 3), rng.integers(1, 4, size // 3)
    return list(zip(kernels.tolist(), strides.tolist(), strict=True))


def _seen(layers) -> int:
    """How far the gradient of one value reaches, with kernels of ones."""
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        pixels = outgoing = tf.zeros([1, PIXELS, 1, 1])
        for size, stride in layers:
            ones = tf.ones([size, 1, 1, 1])
            outgoing = tf.nn.conv2d(outgoing, ones, [stride, 1], "VALID")
        gradient = session.run(tf1.gradients(outgoing[0, 0, 0, 0], pixels)[0])
    reached = np.flatnonzero(gradient)
    return int(reached[-1] - reached[0] + 1)


def _built(attempt, size, scope="", keep_prob=None):
    """Returns the graph of the answer, its logits and its placeholders."""
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        images = tf1.placeholder(tf.float32, [None, *size, 3], "images")
        kept = tf1.placeholder_with_default(1.0, [], "keep_prob")
        with (tf1.variable_scope(scope or tf1.get_variable_scope()),
              answering(f"pictures of {size[0]} x {size[1]}, scope {scope!r}")):
            logits = attempt(images, kept if keep_prob is None else keep_prob)
    return graph, logits, (images, kept)


def _shapes(size, scope="") -> dict[str, list[int]]:
    """The shape of every variable, by name, in the order of the layers."""
    kernels, channels = {}, 3
    for block, (sizes, times) in enumerate(
        zip(CONFIGURATIONS["E"], BLOCK_WIDTHS, strict=True), 1
    ):
        for index, side in enumerate(sizes, 1):
            kernels[f"conv{block}_{index}"] = [side, side, channels, 64 * times]
            channels = 64 * times
    nodes = (size[0] // 32) * (size[1] // 32) * channels
    kernels |= {"fc6": [nodes, 4096], "fc7": [4096, 4096], "fc8": [4096, 1000]}
    start = scope + "/" if scope else ""
    return {f"{start}{name}/{part}": shape if part == "kernel" else shape[-1:]
            for name, shape in kernels.items() for part in ("kernel", "bias")}


def _spread(graph: tf.Graph) -> dict[str, float]:
    """The first values' deviation in parts of what is due, of some variables."""
    found = {}
    with graph.as_default(), tf1.Session() as session:
        for variable in tf1.trainable_variables():
            name, shape = variable.op.name, variable.shape.as_list()
            if name.endswith("bias"):
                found[name] = 1.0 + np.abs(session.run(variable.initial_value)).max()
            elif math.prod(shape) < 3e5 or name.endswith("fc8/kernel"):
                value = session.run(variable.initial_value)
                found[name] = value.std() / math.sqrt(2 / math.prod(shape[:-1]))
    worst = sorted(found, key=lambda name: -abs(found[name] - 1))[:3]
    return {name: round(float(found[name]), 2) for name in worst}


def _run(attempt, size, values, pictures, kept=None) -> np.ndarray:
    """Returns the logits of the answer with these values in its variables."""
    graph, logits, (images, keep_prob) = _built(attempt, size, keep_prob=kept)
    with graph.as_default(), tf1.Session() as session, answering():
        for variable in tf1.trainable_variables():
            assign = variable.initializer
            session.run(assign, {assign.inputs[1]: values[variable.op.name]})
        feeds = {images: pictures} | ({} if kept else {keep_prob: KEEP})
        return session.run(logits, feeds)


def _both_logits(attempt) -> tuple[np.ndarray, np.ndarray]:
    rng, size = np.random.default_rng(7), (64, 32)
    values = {
        name: rng.standard_normal(shape, np.float32) * np.float32(
            math.sqrt(2 / math.prod(shape[:-1])) if len(shape) > 1 else 0.1)
        for name, shape in _shapes(size).items()
    }
    pictures = rng.uniform(-1, 1, [2, *size, 3]).astype(np.float32)
    keras_net = tf.keras.applications.VGG19(
        weights=None, input_shape=(*size, 3), classifier_activation=None)
    keras_net.set_weights(list(values.values()))
    return keras_net(pictures).numpy(), _run(attempt, size, values, pictures, 1.0)


def _dropped(attempt, kept) -> np.ndarray:
    """The logits where every layer passes ones on: what is not 1 is dropout's."""
    size, values = (32, 32), {}
    for name, shape in _shapes((32, 32)).items():
        conv = name.startswith("conv")
        values[name] = np.full(shape, float(conv and len(shape) == 1), np.float32)
        if not conv and len(shape) == 2:
            values[name][np.arange(shape[1]) % shape[0], np.arange(shape[1])] = 1.0
    return _run(attempt, size, values, np.zeros([4, *size, 3], np.float32), kept)
