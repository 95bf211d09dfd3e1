"""The checks of lesson 06: VGG."""

import math
import tempfile

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import vgg
from helpers.checks.net_graph import Net, built, needed_ops, wrong_padding
from helpers.checks.report import exercise
from helpers.errors import first_line

NUM_CLASSES = 1000
KEEP = 0.9
STACKS = (
    [(3, 1)], [(3, 1), (3, 1), (3, 1)], [(3, 1), (2, 2), (3, 1)],
    [(7, 2), (3, 2), (3, 1), (3, 1)], [(5, 3), (1, 1), (4, 2), (3, 1), (2, 2)],
)
# What the usual slips return for a list of layers, and what they did.
SLIPS = (
    ("every layer counts as a 3x3 convolution", lambda layers: 1 + 2 * len(layers)),
    ("the strides have no say",
     lambda layers: 1 + sum(size - 1 for size, _ in layers)),
    ("a layer's own stride already spreads its own kernel",
     lambda layers: _field(layers, own_stride=True)),
    ("the layers are taken from the last to the first",
     lambda layers: _field(layers[::-1])),
    ("it begins with no pixel", lambda layers: _field(layers) - 1),
    ("neighbouring kernels overlap, and shared pixels count twice",
     lambda layers: _field([(size + 1, stride) for size, stride in layers])),
)
SCOPE = "encoder"
# A small net: the name in the checkpoint, its shape there, its shape in the new net.
# The odd names tell a removed prefix from letters or words removed anywhere.
SAVED = (
    ("conv/kernel", [3, 3, 2, 5], [3, 3, 2, 5]), ("conv/bias", [5], [5]),
    ("sub_encoder/kernel", [5, 7], [5, 7]), ("turned/kernel", [2, 3], [3, 2]),
    ("fc8/kernel", [7, 11], [7, 13]), ("fc8/bias", [11], [13]),
    ("conv/kernel/Momentum", [3, 3, 2, 5], None), ("extra/bias", None, [7]),
)


@exercise(
    "Exercise 1: vgg_net",
    "CONFIGURATIONS[\"E\"] lists the kernel sizes block by block; the table of the "
    "first section has every layer in order.",
    "outgoing = conv_layer(incoming, 64, 3, name=\"conv1_1\")",
)
def check_vgg_net(attempt):
    """Compares the graph with that of `helpers.vgg.vgg_net`, layer by layer.

    Args:
      attempt: `(incoming float32 [batch, 224, 224, 3], keep_prob float32 [])` to
        logits `float32 [batch, 1000]`.
    """
    net = built(attempt)
    shrinks = wrong_padding(net.graph)
    if net.error:
        yield ("can be built", False, shrinks or
               f"{type(net.error).__name__}: {first_line(net.error)}")
    yield ("returns a tensor", tf.is_tensor(net.logits),
           f"it returned {net.logits!r}, so there is nothing to compare yet.")
    yield ("of float32 logits, one row per picture and one column per class",
           net.logits.dtype == tf.float32
           and net.logits.shape.as_list() == [None, NUM_CLASSES],
           f"expected float32 [batch, {NUM_CLASSES}], got {net.logits.dtype.name} "
           f"{net.logits.shape}.")
    yield "every convolution keeps height and width", not shrinks, shrinks
    ours = built(vgg.vgg_net)
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
    "Exercise 2: restore into another net",
    "Each variable knows its name, variable.op.name, and its shape; compare both with "
    "what is saved.",
    "name = variable.op.name.removeprefix(scope + \"/\")",
)
def check_name_map(attempt):
    """Restores a small net through the map into one with another last layer.

    Args:
      attempt: `(saved: dict of name to shape, variables, scope)` to the dictionary of
        name to variable that a Saver takes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _save_small_net(folder)
        saved = dict(tf.train.list_variables(path))
        with tf.Graph().as_default() as graph:
            with tf1.variable_scope(SCOPE):
                variables = [tf1.get_variable(name, shape)
                             for name, _, shape in SAVED if shape]
            found = attempt(saved, list(variables), SCOPE)
        yield from _names_fit(found, saved)
        want = {name: v for v, name in zip(
            variables, [name for name, _, shape in SAVED if shape], strict=True)
            if saved.get(name) == v.shape.as_list()}
        wrong = _first_pair(want, found, saved)
        yield "every variable that fits is there, and no other", not wrong, wrong
        with graph.as_default(), tf1.Session() as session:
            tf1.train.Saver(found).restore(session, path)
            reader = tf.train.load_checkpoint(path)
            same = [np.array_equal(session.run(v), reader.get_tensor(name))
                    for name, v in want.items()]
        yield "a Saver of it restores the saved values", all(same), "they differ."


@exercise(
    "Exercise 3: receptive_field",
    "Two numbers are carried from layer to layer: the pixels seen so far, and the "
    "distance in pixels between two neighbours.",
    "pixels, step = 1, 1",
)
def check_receptive_field(attempt):
    """Compares with how far the gradient of one output value reaches.

    Args:
      attempt: a list of `(kernel size, stride)` to the pixels seen along one axis.
    """
    yield ("no layers see one pixel", attempt([]) == 1,
           f"for an empty list it returned {attempt([])!r}.")
    whole = [pair for block in vgg.CONFIGURATIONS["E"]
             for pair in [(size, 1) for size in block] + [(2, 2)]]
    for layers in (*STACKS, whole):
        seen, found = _seen(layers), attempt(list(layers))
        name = "pool5 of VGG-19" if layers is whole else str(layers)
        yield f"{name} sees {seen}", found == seen, (
            f"you returned {found!r}" + _slip(layers, found))


def _field(layers, own_stride=False) -> int:
    pixels, step = 1, 1
    for size, stride in layers:
        step, before = step * stride, step
        pixels += (size - 1) * (step if own_stride else before)
    return pixels


def _slip(layers, found) -> str:
    """Names the slip that returns this number for these layers, if one does."""
    names = [name for name, slip in SLIPS if slip(layers) == found]
    return f": {names[0]}." if names else "."


def _save_small_net(folder: str) -> str:
    """Saves random values under the names of `SAVED`; returns the path."""
    with tf.Graph().as_default(), tf1.Session() as session:
        for name, shape, _ in SAVED:
            if shape:
                tf1.get_variable(name, shape)
        session.run(tf1.global_variables_initializer())
        return tf1.train.Saver().save(session, f"{folder}/small")


def _names_fit(found, saved):
    """Claims on the form of a name map: a dictionary from saved names to variables."""
    yield ("returns a dictionary", isinstance(found, dict),
           f"it returned {'None' if found is None else type(found).__name__}.")
    strings = all(isinstance(name, str) for name in found)
    yield ("from names to variables",
           strings and all(hasattr(v, "initializer") for v in found.values()),
           "a value is no variable." if strings else
           "a key is no string: the name comes first, the variable is the value.")
    unknown = [name for name in found if name not in saved]
    left = unknown and unknown[0].startswith(SCOPE + "/")
    yield ("each name stands in the checkpoint", not unknown,
           f"{(unknown or [''])[0]} is no name in the checkpoint"
           + (": the scope is still there." if left else "."))


def _first_pair(want, found, saved) -> str:
    """Names the first pair of a map that is absent, or should be."""
    for name, variable in found.items():
        if name not in want and saved[name] != variable.shape.as_list():
            return (f"{name} is {saved[name]} in the checkpoint and "
                    f"{variable.shape.as_list()} here.")
        if variable is not want.get(name):
            return f"{name} would go to {variable.op.name}, which is another one."
    for name in want:
        if name not in found:
            return f"{name} fits, and is left out."
    return ""


def _first_difference(ours: Net, theirs: Net) -> str:
    """Names the first layer that differs; empty if none does."""
    for op, want, got in zip(ours.operations, ours.steps, theirs.steps, strict=False):
        if want != got:
            return f"{op.name.split('/')[0]}: expected {want}; yours has {got}."
    wanted, found = len(ours.steps), len(theirs.steps)
    if found < wanted:
        op = ours.operations[found]
        return f"{op.name.split('/')[0]}: the {ours.steps[found].kind} is missing."
    if found > wanted:
        return f"after fc8: there is a {theirs.steps[wanted].kind} too many."
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
    shares: list[float | None] = []
    with tf1.Session(graph=net.graph) as session:
        for before, op in zip(net.operations, net.operations[1:], strict=False):
            if op.type != "SelectV2":
                continue
            if net.keep_prob.op not in needed_ops(op):
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
