"""Exercise checks of lesson 06a: VGG-19, and receptive fields."""

import math

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.attempts import VARIABLES
from helpers.checks.claims import answering, drawn, exercise, near, raises
from helpers.vgg import BLOCK_WIDTHS, CONFIGURATIONS

SCOPES = {"": (32, 32), "net/conv1_1": (41, 100)}
KEEP = 0.6
PIXELS = 2048  # more than any drawn stack sees
CALLS = 2  # of the answer, in each graph
CONVOLUTIONS = sum(map(len, CONFIGURATIONS["E"]))


@exercise(
    "Exercise 1: vgg_net",
    '`CONFIGURATIONS["E"]` lists the kernel sizes, block by block, so two loops are '
    "enough for all convolutions.",
    "Each layer takes the output of the layer before it: `outgoing = conv_layer("
    'outgoing, width, size, name=f"conv{block}_{index}")`. What is left is a pool '
    "after each block, `flatten`, and three fully connected layers. The last of them "
    "is linear.",
    about={
        "creates every layer of VGG-19 once, in the open scope and by its mode": (
            "VGG-19 has two convolutions in each of the first two blocks, and four in "
            "each of the others. Use the names of the exercise, and open no scope of "
            "your own."),
        "returns the logits of Keras's VGG-19 if the weights are equal": (
            "Every layer has a ReLU except the last one, and every block ends with a "
            "pool. The pitfall in `What one layer holds and costs` is about a ReLU "
            "too many."),
        "applies dropout after fc6 and fc7, and after no other layer": (
            "Two layers take the argument `keep_prob=keep_prob`, fc6 and fc7. The "
            "logits are never dropped."),
    },
    adds=VARIABLES, twice=False,
)
def check_vgg_net(attempt):
    """Checks a VGG-19 implementation against the Keras model with equal weights."""
    own = "creates every layer of VGG-19 once, in the open scope and by its mode"
    for case, (scope, size) in enumerate(SCOPES.items()):
        graph, logits, (images, _) = _built(attempt, size, scope, [1.0, 0.5][case])
        where = f"for pictures of {size[0]} x {size[1]}"
        yield ("returns float32 logits of 1000 classes",
               tf.is_tensor(logits) and logits.dtype == tf.float32
               and logits.shape.as_list() == [None, 1000],
               f"{where}, it returned {logits!r}")
        due = _shapes(size, scope)
        with graph.as_default():
            if not case:
                yield (own, raises(ValueError, attempt, images, 1.0),
                       "a second call in a scope with reuse=False should raise a "
                       "ValueError, but it did not")
                yield ("passes a gradient from the logits back to the pictures",
                       tf1.gradients(logits, images)[0] is not None,
                       "the gradient of the logits by the pictures is None")
            found = {v.op.name: v.shape.as_list() for v in tf1.trainable_variables()}
        odd = {name: [due.get(name), found.get(name)] for name in due | found
               if due.get(name) != found.get(name)}
        yield (own, not odd, f"{where}, these variables differ (expected shape, "
               f"yours): {odd}"[:300])
        built = sum(op.type == "Conv2D" for op in graph.get_operations())
        yield (own, built == CALLS * CONVOLUTIONS,
               f"one call created {built / CALLS:g} convolutions instead of "
               f"{CONVOLUTIONS}")
        if not case:
            wide = _not_he(graph)
            yield ("starts all kernels by He's rule", not wide,
                   "the standard deviation of some initial kernels is not "
                   f"sqrt(2 / fan-in) (expected, yours): {wide}"[:300])
    due, found = _both_logits(attempt)
    yield near("returns the logits of Keras's VGG-19 if the weights are equal", due,
               found, "all names and shapes fit, so look for an activation, a pool, or "
               "the order of the layers", 1e-3, 1e-3 * np.abs(due).max())
    for kept in (KEEP, None):
        values, due = _dropped(attempt, kept), KEEP**2
        share = float((values != 0).mean())
        yield ("applies dropout after fc6 and fc7, and after no other layer",
               abs(share - due) < 0.05
               and np.allclose(values[values != 0], 1 / due, rtol=1e-4),
               f"we sent ones through the network with keep_prob={KEEP}. Two dropouts "
               f"let {due:.2f} of them through, each scaled to {1 / due:.2f}; yours "
               f"let {share:.2f} through, scaled to at most {values.max():.2f}")


@exercise(
    "Exercise 2: receptive_field",
    "Go through the layers with two numbers: the pixels that a value sees so far, and "
    "the distance between two neighbouring values.",
    "Each layer does `pixels += (kernel_size - 1) * step`. What is left is the loop, "
    "and the line that updates the step.",
    about={
        "returns how far the gradient reaches": (
            "A layer's own stride does not move its own kernel apart. It counts only "
            "for the layers behind it, and there the strides are multiplied."),
    },
)
def check_receptive_field(attempt):
    """Checks receptive field sizes against the reach of a gradient."""
    whole = [(side, 1 + (side == 2)) for block in CONFIGURATIONS["E"]
             for side in (*block, 2)]  # wider than its pictures
    for layers in [*drawn(_stack), whole]:
        with answering(f"for the layers {layers}"):
            found = attempt(layers)
        yield near("returns how far the gradient reaches", _seen(layers), found,
                   f"for the layers {layers}")


def _stack(rng, size):
    kernels, strides = rng.integers(1, 6, size // 3), rng.integers(1, 4, size // 3)
    layers = list(zip(kernels.tolist(), strides.tolist(), strict=True))
    return layers[:-1] + layers[:1]  # the last is the first again: equal layers count


def _seen(layers) -> int:
    """Measures a receptive field as the number of pixels that a gradient reaches."""
    with tf.Graph().as_default(), tf1.Session() as session:
        pixels = outgoing = tf.zeros([1, PIXELS, 1, 1])
        for size, stride in layers:
            ones = tf.ones([size, 1, 1, 1])
            outgoing = tf.nn.conv2d(outgoing, ones, [stride, 1], "VALID")
        gradient = session.run(tf1.gradients(outgoing[0, 0, 0, 0], pixels)[0])
    reached = np.flatnonzero(gradient)
    return int(reached[-1] - reached[0] + 1)


def _built(attempt, size, scope="", keep_prob=None):
    """Builds the answer twice; returns the graph, the logits, and the placeholders."""
    with tf.Graph().as_default() as graph:
        images = tf1.placeholder(tf.float32, [None, *size, 3], "images")
        kept = tf1.placeholder_with_default(1.0, [], "keep_prob")
        with (tf1.variable_scope(scope or tf1.get_variable_scope()) as opened,
              answering(f"pictures of {size[0]} x {size[1]}, scope {scope!r}")):
            for given in 0 * images, images:  # the second time it shares all variables
                logits = attempt(given, kept if keep_prob is None else keep_prob)
                opened.reuse_variables()
    return graph, logits, (images, kept)


def _not_he(graph) -> dict[str, list[str]]:
    """Returns the kernels whose initial deviation does not follow He's rule."""
    odd = {}
    with graph.as_default(), tf1.Session() as session, answering("initial weights"):
        kernels = [v for v in tf1.trainable_variables()
                   if v.op.name.endswith("kernel")]
        session.run([v.initializer for v in kernels])
        for kernel in kernels:
            due = math.sqrt(2 / math.prod(kernel.shape.as_list()[:-1]))
            values = session.run(kernel)
            if abs(values.std() / due - 1) > 0.03 + 3 / math.sqrt(values.size):
                odd[kernel.op.name] = [f"{due:.3f}", f"{values.std():.3f}"]
    return odd


def _shapes(size, scope="") -> dict[str, list[int]]:
    """Returns the expected shape of every VGG-19 variable by name, in layer order."""
    kernels, channels = {}, 3
    for block, sizes in enumerate(CONFIGURATIONS["E"]):
        for index, side in enumerate(sizes, 1):
            shape = [side, side, channels, 64 * BLOCK_WIDTHS[block]]
            kernels[f"conv{block + 1}_{index}"] = shape
            channels = shape[-1]
    nodes = (size[0] // 32) * (size[1] // 32) * channels
    kernels |= {"fc6": [nodes, 4096], "fc7": [4096, 4096], "fc8": [4096, 1000]}
    start = scope + "/" if scope else ""
    return {f"{start}{name}/{part}": shape if part == "kernel" else shape[-1:]
            for name, shape in kernels.items() for part in ("kernel", "bias")}


def _run(attempt, size, values, pictures, kept=None) -> np.ndarray:
    """Returns the logits of the answer for given variable values and pictures."""
    graph, logits, (images, keep_prob) = _built(attempt, size, keep_prob=kept)
    with graph.as_default(), tf1.Session() as session, answering():
        for variable in tf1.trainable_variables():
            variable.load(values[variable.op.name], session)
        feeds = {images: pictures} | ({} if kept else {keep_prob: KEEP})
        return session.run(logits, feeds)


def _both_logits(attempt) -> tuple[np.ndarray, np.ndarray]:
    rng, size = np.random.default_rng(7), (64, 32)
    values = {
        name: rng.standard_normal(shape, np.float32) * np.float32(
            math.sqrt(2 / math.prod(shape[:-1])) if len(shape) > 1 else 0.1)
        for name, shape in _shapes(size).items()
    }
    pictures = rng.uniform(-1, 1, [3, *size, 3]).astype(np.float32)
    pictures[:, 9:20] = 0.0
    keras_net = tf.keras.applications.VGG19(
        weights=None, input_shape=(*size, 3), classifier_activation=None)
    keras_net.set_weights(list(values.values()))
    return keras_net(pictures).numpy(), _run(attempt, size, values, pictures, 1.0)


def _dropped(attempt, kept) -> np.ndarray:
    """Returns the effect of dropout in a network that otherwise passes ones through."""
    size, values = (32, 32), {}
    for name, shape in _shapes(size).items():
        values[name] = np.zeros(shape, np.float32)
        # A mean, which dropout before it moves, as dropout behind fc8 moves its bias.
        if name.startswith("conv") and name.endswith("kernel"):
            values[name][1, 1] = 1 / shape[2]
        elif name in ("fc7/kernel", "fc8/kernel"):
            np.fill_diagonal(values[name], 1.0)
    values["fc6/kernel"] += 1 / 512
    values["fc8/bias"] += 1
    return _run(attempt, size, values, np.ones([4, *size, 3], np.float32), kept) - 1
