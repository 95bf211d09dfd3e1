"""The checks of lesson 11: opening what somebody left."""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise
from helpers.files import ROOT

MUSEUM = ROOT / "data" / "museum"
SUFFIX = "/ExponentialMovingAverage"


@exercise(
    "Exercise 1: averaged",
    "go over the names without the suffix; ask whether the name with it is there too.",
    "average = \"/ExponentialMovingAverage\"; then weights.get(name + average, array)",
)
def check_averaged(attempt):
    """Compares with the museum's golden values and with made-up names.

    Args:
      attempt: `weights` to a new dictionary of one array per variable.
    """
    made_up = {
        "a/w": np.array([1.0]), "a/w" + SUFFIX: np.array([2.0]),
        "a/w/Momentum": np.array([3.0]), "b/moving_mean": np.array([4.0]),
        "Momentum/w": np.array([5.0]), "global_step": np.array(7),
    }
    before = dict(made_up)
    found = attempt(made_up)
    yield ("returns a dictionary", isinstance(found, dict),
           f"it returned {type(found).__name__}.")
    yield ("leaves its argument as it is", made_up == before and found is not made_up,
           "the dictionary that you were given is changed, or is the one you return.")
    left = sorted(name for name in found if name.endswith((SUFFIX, "/Momentum")))
    yield ("no slot and no suffix is left", not left,
           f"'{(left or [''])[0]}' is no variable of the network.")
    yield ("no counter is left", "global_step" not in found,
           "global_step counts steps; the network does not use it.")
    yield ("the average goes before the raw array", found.get("a/w") == [2.0],
           f"a/w has an average, 2.0; you return {found.get('a/w')}.")
    yield ("what has no average stays", found.get("b/moving_mean") == [4.0],
           "b/moving_mean has no average, and the network needs it.")
    yield ("a layer may be called Momentum", found.get("Momentum/w") == [5.0],
           "Momentum/w is a weight of a layer: only the last part of a name says that "
           "an array is a slot.")
    yield from _network(attempt)


def _network(attempt):
    from helpers.inherited import read_weights

    weights = read_weights(MUSEUM / "slim")
    found = attempt(weights)
    with np.load(MUSEUM / "golden" / "slim.npz") as golden:
        wanted = golden["averaged_kernel"]
    kernel = found.get("conv1/weights")
    yield ("holds the museum's averaged kernel",
           kernel is not None and np.allclose(kernel, wanted, rtol=1e-5),
           "conv1/weights is not the array that TensorFlow 1.15 averaged.")
    number = sum(not name.endswith((SUFFIX, "/Momentum", "global_step"))
                 for name in weights)
    yield ("and every variable of the network", len(found) == number,
           f"the network has {number} variables, you return {len(found)}.")


def _queue_graph(folder: Path) -> tuple[str, np.ndarray, np.ndarray]:
    """Saves a graph whose queue has a name of its own; returns a batch and answers."""
    random = np.random.default_rng(11)
    with tf.Graph().as_default() as graph:
        names = tf1.train.string_input_producer(["nowhere.tfrecord"], name="paths")
        _, record = tf1.TFRecordReader().read(names)
        row = tf.io.parse_single_example(
            record, {"row": tf.io.FixedLenFeature([3], tf.float32)})["row"]
        batch = tf1.train.shuffle_batch([row], 4, 20, 5, name="feeder")
        kernel = tf1.get_variable("kernel", [3, 2])
        tf.nn.softmax(tf.matmul(batch, kernel), name="probabilities")
        saver = tf1.train.Saver()
        init = tf1.global_variables_initializer()
    rows = random.normal(size=(4, 3)).astype(np.float32)
    with tf1.Session(graph=graph) as session:
        session.run(init)
        prefix = saver.save(session, str(folder / "model.ckpt"))
        wanted = session.run("probabilities:0", {batch: rows})
    return prefix, rows, wanted


@exercise(
    "Exercise 2: answers",
    "look in the imported graph for the op whose type begins with QueueDequeue and "
    "whose output is floats; any tensor may be a key of feed_dict.",
    "saver = tf1.train.import_meta_graph(prefix + \".meta\")",
)
def check_answers(attempt):
    """Runs the attempt on the museum's graph and on one with other names.

    Args:
      attempt: `(prefix, batch)` to the probabilities.
    """
    with np.load(MUSEUM / "golden" / "queue_fed.npz") as golden:
        rows, wanted = golden["batch"], golden["probabilities"]
    outside = tf1.get_default_graph()
    before = len(outside.get_operations())
    found = attempt(str(MUSEUM / "queue_fed" / "model.ckpt"), rows)
    yield ("returns an array", isinstance(found, np.ndarray),
           f"it returned {type(found).__name__}.")
    yield ("has a row per row of the batch", found.shape == wanted.shape,
           f"the shape is {found.shape}, wanted {wanted.shape}.")
    yield ("gives the numbers of 2019", np.allclose(found, wanted, rtol=1e-5),
           "the numbers are others: are the weights restored, and is it your batch "
           "that went in?")
    yield ("adds nothing to the graph outside",
           tf1.get_default_graph() is outside
           and len(outside.get_operations()) == before,
           "the import landed in the graph that was open before.")
    with tempfile.TemporaryDirectory() as folder:
        prefix, rows, wanted = _queue_graph(Path(folder))
        found = attempt(prefix, rows)
        again = attempt(prefix, rows)
    yield ("works where the queue has another name",
           np.allclose(found, wanted, rtol=1e-5),
           "on a graph whose dequeue op is not called batch, the numbers are others.")
    yield ("works twice", np.allclose(again, wanted, rtol=1e-5),
           "the second call gives other numbers than the first.")


def _stranger(needed: bool, control: bool, deep: bool = False) -> tf1.GraphDef:
    """Returns a graph with a file-writing op that `y` needs, in one way or another."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [], name="x")
        note = tf.io.write_file("never-written.txt", "x", name="note")
        read = tf.io.read_file("never-read.txt", name="other")
        y = x * 2
        if needed and control:
            with tf.control_dependencies([note]):
                y = tf.identity(y)
        elif needed:
            y = y + tf.cast(tf.strings.length(read), tf.float32)
        for _ in range(5 if deep else 0):
            y = y + 1
        tf.identity(y, name="y")
    return graph.as_graph_def()


@exercise(
    "Exercise 3: touches",
    "begin at the output and walk back over `node.input`; an input is `name`, `name:1` "
    "or `^name`.",
    "nodes = {node.name: node for node in graph_def.node}; waiting = [output]",
)
def check_touches(attempt):
    """Tries graphs whose dangerous ops are needed, idle, or needed for order only.

    Args:
      attempt: `(path, output)` to the sorted types of the ops that would run.
    """
    cases = [
        ("an idle op does not count", _stranger(False, False), []),
        ("an op behind the output counts", _stranger(True, False), ["ReadFile"]),
        ("a control input counts", _stranger(True, True), ["WriteFile"]),
        ("also many ops away", _stranger(True, True, deep=True), ["WriteFile"]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for number, (claim, graph, wanted) in enumerate(cases):
            path = Path(folder) / f"{number}.pb"
            path.write_bytes(graph.SerializeToString())
            found = attempt(str(path), "y")
            if not number:
                yield ("returns a list", isinstance(found, list),
                       f"it returned {type(found).__name__}.")
            yield (claim, found == wanted, f"it gave {found}, wanted {wanted}.")
        found = attempt(str(Path(folder) / "1.pb"), "note")
        yield ("asks for the output that it was given", found == ["WriteFile"],
               f"for the output `note` it gave {found}, wanted ['WriteFile'].")
        idle = [name for name in ("never-written.txt",) if Path(name).exists()]
        yield "runs nothing", not idle, "a file was written: the graph was run."
