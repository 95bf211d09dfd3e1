"""The checks of lesson 10: porting TF1 code."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise
from helpers.divergence import first_difference

AVERAGE = "/ExponentialMovingAverage"


@exercise(
    "Exercise 1: RunningMean",
    "the old program keeps two numbers; a module keeps them as attributes, and "
    "tf.function can be told the shape of its argument.",
    "def __init__(self): super().__init__(); self.total = tf.Variable(0.0)",
)
def check_running_mean(attempt):
    """Feeds batches of many lengths and compares with NumPy's mean of all of them.

    Args:
      attempt: the class; it is made with no arguments.
    """
    yield ("is a tf.Module",
           isinstance(attempt, type) and issubclass(attempt, tf.Module),
           "it is not a class of tf.Module any more.")
    module = attempt()
    yield ("has a method `update`", callable(getattr(module, "update", None)),
           "an object of the class has no `update` to call.")
    yield ("holds its state in two variables that `module.variables` lists",
           len(module.variables) == 2,
           f"module.variables lists {len(module.variables)}: state that is not there "
           "is saved by no checkpoint.")
    random, seen, means = np.random.default_rng(3), [], []
    for length in (1, 2, 5, 3, 7):
        seen.append(random.normal(size=length).astype(np.float32))
        means.append(float(module.update(seen[-1])))
    expected = [np.concatenate(seen[: n + 1]).mean() for n in range(len(seen))]
    yield ("returns the mean of everything fed so far, batches of any length",
           np.allclose(means, expected, atol=1e-5),
           f"after batches of 1, 2, 5, 3, 7 the means are {np.round(expected, 3)}; "
           f"yours are {np.round(means, 3)}" + _wrong_means(means, seen))
    other = attempt()  # a tf.function holds its object only weakly
    yield ("two objects do not share their state",
           np.isclose(float(other.update(np.float32([4.0]))), 4.0),
           "a second object began with what the first had been fed.")
    traces = _traces(module.update)
    yield ("is traced once, not once per length", traces == 1,
           f"batches of five lengths made {traces} traces." if traces else
           "nothing was traced: `update` is plain Python.")


def _wrong_means(means, seen) -> str:
    """Names what was computed instead of the mean of everything fed so far."""
    alone = [batch.mean() for batch in seen]
    so_far = np.cumsum(alone) / np.arange(1, len(seen) + 1)
    for value, name in ((alone, "each is that of the last batch alone"),
                        (so_far, "a batch of 1 counts as much as a batch of 7")):
        if np.allclose(means, value, atol=1e-5):
            return f": {name}."
    return "."


def _traces(function: Callable) -> int:
    """Returns how often a `tf.function` was traced; a concrete one was once."""
    if isinstance(function, tf.types.experimental.ConcreteFunction):
        return 1
    return getattr(function, "experimental_get_tracing_count", lambda: 0)()


@exercise(
    "Exercise 2: keras_lstm_weights",
    "the columns of the kernel are four gates side by side, its rows first the word "
    "and then the state; the bias has the same four gates.",
    "write, candidate, forget, read = np.split(kernel, 4, axis=1)",
)
def check_keras_lstm_weights(attempt):
    """Runs Keras's LSTM on the result, against the old cell's equations in NumPy.

    Args:
      attempt: `(kernel [values + units, 4 * units], bias [4 * units])` to a list of
        `[values, 4 * units]`, `[units, 4 * units]`, `[4 * units]`.
    """
    values, units = 3, 5
    random = np.random.default_rng(5)
    kernel = random.normal(size=[values + units, 4 * units]).astype(np.float32)
    bias = random.normal(size=[4 * units]).astype(np.float32)
    given = kernel.copy(), bias.copy()
    weights = attempt(*given)
    yield ("returns three arrays",
           isinstance(weights, (list, tuple)) and len(weights) == 3,
           f"Keras's set_weights takes three arrays, and this is {_kind(weights)}.")
    shapes = [tuple(np.shape(w)) for w in weights]
    wanted = [(values, 4 * units), (units, 4 * units), (4 * units,)]
    yield ("of the shapes that Keras wants", shapes == wanted,
           f"for words of {values} and {units} units they are {wanted}; yours are "
           f"{shapes}.")
    yield ("leaves the caller's arrays as they are",
           np.array_equal(given[0], kernel) and np.array_equal(given[1], bias),
           "the checkpoint's own array was changed in place: who reads it next has "
           "another model.")
    words = random.normal(size=[2, 4, values]).astype(np.float32)
    layer = tf.keras.layers.LSTM(units)
    layer.build([None, None, values])
    layer.set_weights([np.asarray(w) for w in weights])
    far = {extra: np.abs(layer(words) - _basic_lstm(words, kernel, bias, extra)).max()
           for extra in (1.0, 0.0, 2.0)}
    yield ("Keras gives what the old cell gave", far[1.0] < 1e-5,
           _wrong_gates(weights, kernel, bias, far))


def _kind(value: object) -> str:
    size = f" of {len(value)}" if isinstance(value, (list, tuple)) else ""
    return f"{type(value).__name__}{size}"


def _wrong_gates(weights, kernel, bias, far) -> str:
    """Says what is wrong with weights of the right shapes."""
    if far[0.0] < 1e-5:
        return ("the order is right, but the 1 that the old cell adds to its forget "
                "gate is missing from the bias.")
    if far[2.0] < 1e-5:
        return "the 1 was added to the forget gate twice."
    both = np.concatenate([np.asarray(w) for w in weights[:2]])
    if np.array_equal(both, kernel):
        return "the kernel's gates stand as the old cell had them."
    if np.array_equal(np.asarray(weights[2]), bias):
        return "the kernel has another order, and the bias still the old one."
    order = np.arange(bias.size).reshape(4, -1)[[0, 2, 1, 3]].ravel()
    if np.array_equal(both, kernel[:, order]):
        return "the kernel is right, and the bias has another order or a 1 elsewhere."
    if np.array_equal(np.sort(both, 0), np.sort(kernel[:, order], 0)):
        return "the gates are in order; rows of words and of states are mixed up."
    return "the gates of kernel and bias are not input, forget, candidate, output."


def _basic_lstm(words, kernel, bias, forget_bias=1.0):
    """BasicLSTMCell's equations; returns the last output, `[batch, units]`."""
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    cell = output = np.zeros([len(words), len(bias) // 4], np.float32)
    for word in np.moveaxis(words, 1, 0):
        gates = np.concatenate([word, output], 1) @ kernel + bias
        write, candidate, keep, read = np.split(gates, 4, axis=1)
        cell = cell * sigmoid(keep + forget_bias) + sigmoid(write) * np.tanh(candidate)
        output = sigmoid(read) * np.tanh(cell)
    return output


@exercise(
    "Exercise 3: inference_weights",
    "reader.get_variable_to_shape_map() has every name; the slots and the averages "
    "end in a word of their own.",
    "for name in reader.get_variable_to_shape_map(): "
    "if name.endswith(('Momentum', 'ExponentialMovingAverage')): continue",
)
def check_inference_weights(attempt):
    """Gives the attempt two real checkpoints with other layers than the lesson's.

    Args:
      attempt: a checkpoint reader to a dictionary from Keras names to arrays.
    """
    for number, layers in enumerate((["conv1", "conv2", "scores"], ["stem", "head"])):
        saved = _slim_values(layers, np.random.default_rng(number))
        with tempfile.TemporaryDirectory() as folder:
            given = attempt(tf.train.load_checkpoint(_saved(saved, Path(folder))))
        if not number:
            yield ("returns a dictionary", isinstance(given, dict),
                   f"it returned {_kind(given)}.")
        yield from _weight_claims(given, saved, " and ".join(layers))


def _weight_claims(given, saved, layers: str) -> Iterator[tuple[str, bool, str]]:
    plain = {n for n in saved if not n.endswith((AVERAGE, "/Momentum"))}
    wanted = {_keras_name(n): n for n in plain - {"global_step"}}
    extra, missing = set(given) - set(wanted), set(wanted) - set(given)
    yield (f"{layers}: has Keras's names and no other", not extra and not missing,
           f"missing: {sorted(missing)[:3]}; not Keras's: {sorted(extra)[:3]}.")
    for keras_name, name in sorted(wanted.items()):
        value, average = saved[name], saved.get(name + AVERAGE)
        if average is not None and np.array_equal(given[keras_name], value):
            yield (f"{layers}: averages", False,
                   f"{keras_name} is the raw weight; the checkpoint has its average.")
        right = value if average is None else average
        if not np.array_equal(given[keras_name], right):
            yield (f"{layers}: values", False,
                   f"{keras_name} is neither {name} nor its average.")
    yield f"{layers}: averages where there are some, the rest as it stands", True, ""


def _keras_name(name: str) -> str:
    layer, *kind = name.split("/")[1:]
    if kind[0] == "BatchNorm":
        return f"{layer}_norm/{kind[1]}"
    return f"{layer}/" + {"weights": "kernel", "biases": "bias"}[kind[0]]


def _slim_values(layers, random) -> dict[str, np.ndarray]:
    """Values under the names of a slim program with batch norm and averages."""
    names = {f"net/{layers[-1]}/weights": [5, 3], f"net/{layers[-1]}/biases": [3]}
    for layer in layers[:-1]:
        names |= {f"net/{layer}/weights": [3, 3, 2, 4]}
        names |= {f"net/{layer}/BatchNorm/{kind}": [4]
                  for kind in ("beta", "moving_mean", "moving_variance")}
    slots = {name + end: shape for name, shape in names.items()
             if "moving" not in name for end in (AVERAGE, "/Momentum")}
    slots.pop(f"net/{layers[-1]}/biases{AVERAGE}")  # one that nobody averaged
    return {name: random.normal(size=shape).astype("f")
            for name, shape in {**names, **slots, "global_step": []}.items()}


def _saved(values, folder: Path) -> str:
    with tf.Graph().as_default(), tf1.Session() as session:
        for name, value in values.items():
            tf1.get_variable(name, initializer=value)
        session.run(tf1.global_variables_initializer())
        return tf1.train.Saver().save(session, str(folder / "model.ckpt"))


class Port(tf.Module):
    """A small net: `[batch, 6]` to named tensors; the port has two planted faults."""

    def __init__(self, random: np.random.Generator, epsilon: float):
        super().__init__()
        self.epsilon = epsilon
        self.hidden = tf.Variable(random.normal(size=[6, 6]).astype("f"), name="hidden")
        self.mean = tf.Variable(random.normal(size=[6]).astype("f"), name="mean")
        self.variance = tf.Variable(
            random.uniform(0.001, 0.01, [6]).astype("f"), name="variance")
        self.scores = tf.Variable(random.normal(size=[6, 6]).astype("f"), name="scores")

    def __call__(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns `hidden`, `norm`, `relu`, `scores`: float32 [batch, 6] each."""
        hidden = x @ self.hidden
        norm = (hidden - self.mean) / tf.sqrt(self.variance + self.epsilon)
        relu = tf.nn.relu(norm)
        return {"hidden": hidden, "norm": norm, "relu": relu,
                "scores": relu @ self.scores}


def two_programs(seed: int) -> tuple[Port, Port, dict[str, np.ndarray]]:
    """Returns an old program, its port with two faults, and feeds for both.

    Args:
      seed: of all weights and of the feeds.
    """
    old, new = (Port(np.random.default_rng(seed), e) for e in (1e-3, 1e-5))
    new.scores.assign(tf.transpose(new.scores))
    feeds = {"x": np.random.default_rng(seed).normal(size=[9, 6]).astype("f")}
    return old, new, feeds


@exercise(
    "Exercise 4: fix",
    "print first_difference(old, new, feeds): the stage says whether it is code or a "
    "weight. Fix the first fault, then ask again for the second.",
    "def fix(new): new.epsilon = ...",
)
def check_fix(attempt):
    """Plants the same two faults in programs with other weights.

    Args:
      attempt: changes the port in place.
    """
    for seed in (7, 8):
        old, new, feeds = two_programs(seed)
        attempt(new)
        found = first_difference(old, new, feeds)
        where = "the lesson's weights" if seed == 7 else "other weights"
        yield (f"{where}: equal with constants in all weights",
               found.stage != "constants",
               f"the first difference is still {found.name}, with one constant in all "
               "weights: it is not the weights' fault.")
        yield (f"{where}: equal with the real weights", not found,
               f"the first difference is now {found.name}, with the real weights only.")
