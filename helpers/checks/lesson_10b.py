"""The checks of lesson 10b: weights, number by number."""

import numpy as np
import tensorflow as tf

from helpers.checks.report import answering, close, drawn, exercise, shown
from helpers.divergence import first_difference


@exercise(
    "Exercise 1: keras_lstm_weights",
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
    for words, kernel, bias in drawn(_old_lstm, how_many=8):
        given = kernel.copy(), bias.copy()
        values, units = words.shape[2], bias.size // 4
        case = f"words of {values} numbers, {units} units"
        weights = attempt(*given)
        found = [np.shape(w) for w in weights] if isinstance(
            weights, list | tuple) else type(weights).__name__
        due = [(values, 4 * units), (units, 4 * units), (4 * units,)]
        yield ("returns the three arrays that Keras wants", found == due,
               f"{case}: {shown(due, found)}.")
        same = np.array_equal(given[0], kernel) and np.array_equal(given[1], bias)
        yield ("leaves the caller's arrays as they are", same,
               "the checkpoint's own array was changed in place: who reads it next "
               "has another model.")
        layer = tf.keras.layers.LSTM(units)
        layer.build([None, None, values])
        with answering(case):
            layer.set_weights([np.asarray(w) for w in weights])
        found = layer(words).numpy()
        yield ("Keras gives what the old cell gave",
               close(found, _basic_lstm(words, kernel, bias), 1e-4, 1e-5),
               f"{case}: {_wrong_gates(words, kernel, bias, found)}")


def _old_lstm(rng, size):
    values, units = 1 + size // 2, 1 + (size * 3) % 5
    return [rng.normal(size=shape).astype(np.float32) for shape in (
        [3, 4, values], [values + units, 4 * units], [4 * units])]


def _wrong_gates(words, kernel, bias, found) -> str:
    """Says what is wrong with weights of the right shapes."""
    for extra, wrong in ((0.0, "is missing from the bias"), (2.0, "was added twice")):
        if close(found, _basic_lstm(words, kernel, bias, extra), 1e-4, 1e-5):
            return f"the order is right, but the 1 of the forget gate {wrong}."
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
    "Exercise 2: fix",
    "print first_difference(old, new, feeds): the stage says whether it is code or a "
    "weight. Fix the first fault, then ask again for the second.",
    "def fix(new): new.epsilon = ...",
)
def check_fix(attempt):
    """Plants the same two faults in programs with other weights.

    Args:
      attempt: changes the port in place.
    """
    for seed in (7, 8, 9):
        old, new, feeds = two_programs(seed)
        attempt(new)
        found = first_difference(old, new, feeds, tolerance=1e-6)
        yield ("equal with constants in all weights", found.stage != "constants",
               f"seed {seed}: the first difference is still {found.name}, with one "
               "constant in all weights: it is not the weights' fault.")
        yield ("equal with the real weights", not found,
               f"seed {seed}: the first difference is now {found.name}, with the real "
               "weights only.")
