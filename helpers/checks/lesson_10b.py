"""The checks of lesson 10b: weights, number by number."""

import numpy as np
import tensorflow as tf

from helpers.checks.report import answering, drawn, exercise, near, same
from helpers.divergence import first_difference


@exercise(
    "Exercise 1: keras_lstm_weights",
    "the kernel's rows are first the word's, then the state's.",
    "`write, candidate, forget, read = np.split(array, 4, axis=-1)`, of kernel and of "
    "bias. What is left: join them in the other order, add the 1, and cut the kernel.",
)
def check_keras_lstm_weights(attempt):
    """Runs Keras's LSTM on `(kernel, bias)`, against the old cell in NumPy."""
    for words, kernel, bias in drawn(_old_lstm, how_many=8):
        values, units = words.shape[2], bias.size // 4
        case = f"words of {values} numbers, {units} units"
        weights = attempt(kernel, bias)
        found = isinstance(weights, list | tuple) and [
            w.shape if isinstance(w, np.ndarray) else type(w) for w in weights]
        yield same("returns the three arrays that Keras wants",
                   [(values, 4 * units), (units, 4 * units), (4 * units,)], found, case)
        layer = tf.keras.layers.LSTM(units)
        layer.build([None, None, values])
        with answering(case):
            layer.set_weights([np.asarray(w) for w in weights])
        yield near("Keras gives what the old cell gave",
                   _basic_lstm(words, kernel, bias), layer(words).numpy(),
                   f"{case}, gates or their 1 are wrong", 1e-4, 1e-5)


def _old_lstm(rng, size):
    values, units = 1 + size // 2, 1 + (size * 3) % 5
    return [rng.integers(-3, 4, shape).astype(np.float32) / 2 for shape in (
        [3, 4, values], [values + units, 4 * units], [4 * units])]


def _basic_lstm(words, kernel, bias):
    """BasicLSTMCell's equations; returns the last output, `[batch, units]`."""
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    cell = output = np.zeros([len(words), len(bias) // 4], np.float32)
    for word in np.moveaxis(words, 1, 0):
        gates = np.concatenate([word, output], 1) @ kernel + bias
        write, candidate, keep, read = np.split(gates, 4, axis=1)
        cell = cell * sigmoid(keep + 1.0) + sigmoid(write) * np.tanh(candidate)
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
    """Returns an old program, its port with two faults, and feeds, by a seed."""
    old, new = (Port(np.random.default_rng(seed), e) for e in (1e-3, 1e-5))
    new.scores.assign(tf.transpose(new.scores))
    feeds = {"x": np.random.default_rng(seed).normal(size=[9, 6]).astype("f")}
    return old, new, feeds


@exercise(
    "Exercise 2: fix",
    "fix what `first_difference(old, new, feeds)` names, then ask again.",
    "`new.epsilon = 1e-3`. What is left: the weight that the second answer names.",
)
def check_fix(attempt):
    """Has `(new)` mend programs with the same two faults and other weights."""
    for seed in (7, 8, 9):
        old, new, feeds = two_programs(seed)
        attempt(new)
        found = first_difference(old, new, feeds, tolerance=1e-6)
        yield ("gives what the old program gives", not found,
               f"seed {seed}: the first difference is {found.name}, in the stage "
               f"{found.stage!r}.")
