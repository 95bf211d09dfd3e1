"""Exercise checks of lesson 10b: converted LSTM weights, and a corrected port."""

import numpy as np
import tensorflow as tf

from helpers.checks.claims import answering, drawn, exercise, near, same
from helpers.divergence import first_difference


@exercise(
    "Exercise 1: keras_lstm_weights",
    "The first rows of the kernel belong to the word, and the other rows to the state.",
    "Split the kernel and the bias into the four gates, for example with "
    "`write, candidate, forget, read = np.split(array, 4, axis=-1)`. What is left is "
    "to join the gates in Keras's order, add the 1 to the bias, and cut the kernel.",
    about={
        "returns three arrays with the shapes of Keras's LSTM": (
            "The bias has four numbers for each unit. As many rows of the kernel as "
            "there are units belong to the state, and they are the last ones."),
        "gives Keras's LSTM the outputs of the old cell": (
            "All three arrays need the new order of the gates. The 1 belongs to the "
            "forget gate, so mind where this gate is when you add it."),
        "changes nothing else":
            "An operator such as += writes into the caller's array. Add to a copy.",
    },
)
def check_keras_lstm_weights(attempt):
    """Checks converted LSTM weights by comparing Keras with the old cell."""
    for words, kernel, bias in drawn(_old_lstm, how_many=8):
        values, units = words.shape[2], bias.size // 4
        case = f"for words of {values} numbers and {units} units"
        with answering(case):
            weights = attempt(kernel, bias)
        shapes = isinstance(weights, list | tuple) and [
            w.shape if isinstance(w, np.ndarray) else type(w) for w in weights]
        yield same("returns three arrays with the shapes of Keras's LSTM",
                   [(values, 4 * units), (units, 4 * units), (4 * units,)], shapes,
                   case)
        layer = tf.keras.layers.LSTM(units)
        layer.build([None, None, values])
        with answering(case):
            layer.set_weights([np.asarray(w) for w in weights])
        yield near("gives Keras's LSTM the outputs of the old cell",
                   _basic_lstm(words, kernel, bias), layer(words).numpy(),
                   f"{case}, the order of the gates or the 1 of the forget gate is "
                   "wrong", 1e-4, 1e-5)


def _old_lstm(rng, size):
    values, units = 1 + size // 2, 1 + (size * 3) % 5
    return [rng.integers(-3, 4, shape).astype(np.float32) / 2 for shape in (
        [3, 4, values], [values + units, 4 * units], [4 * units])]


def _basic_lstm(words, kernel, bias):
    """Computes the last output of a `BasicLSTMCell`, float32 `[batch, units]`."""
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
    """Small network from `[batch, 6]` inputs to a dictionary of named tensors."""

    def __init__(self, random: np.random.Generator, epsilon: float):
        super().__init__()
        self.epsilon = epsilon
        self.hidden = tf.Variable(random.normal(size=[6, 6]).astype("f"), name="hidden")
        self.mean = tf.Variable(random.normal(size=[6]).astype("f"), name="mean")
        self.variance = tf.Variable(
            random.uniform(0.001, 0.01, [6]).astype("f"), name="variance")
        self.scores = tf.Variable(random.normal(size=[6, 6]).astype("f"), name="scores")

    def __call__(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the tensors `hidden`, `norm`, `relu`, and `scores` by name."""
        hidden = x @ self.hidden
        norm = (hidden - self.mean) / tf.sqrt(self.variance + self.epsilon)
        relu = tf.nn.relu(norm)
        return {"hidden": hidden, "norm": norm, "relu": relu,
                "scores": relu @ self.scores}


def two_programs(seed: int) -> tuple[Port, Port, dict[str, np.ndarray]]:
    """Returns an old program, a port of it with two faults, and inputs for both.

    Args:
      seed: Seed of the weights and the inputs.
    """
    old, new = (Port(np.random.default_rng(seed), e) for e in (1e-3, 1e-5))
    new.scores.assign(tf.transpose(new.scores))
    feeds = {"x": np.random.default_rng(seed).normal(size=[9, 6]).astype("f")}
    return old, new, feeds


@exercise(
    "Exercise 2: fix",
    "Fix the fault that `first_difference(old, new, feeds)` names, then ask again.",
    "The line `new.epsilon = 1e-3` repairs the first fault. What is left is the weight "
    "that the second report names.",
    about={
        "gives the port the tensors of the old program": (
            "All tensors before the named one are right, so the fault lies in the "
            "number or the weight that this tensor needs in addition. Compute a "
            "weight from the port's own weight, because the check tries others, too."),
    },
)
def check_fix(attempt):
    """Checks that an attempt corrects both faults of a port, for other weights too."""
    for seed in (7, 8, 9):
        old, new, feeds = two_programs(seed)
        with answering(f"with seed {seed}"):
            attempt(new)
        found = first_difference(old, new, feeds, tolerance=1e-6)
        # With the same weights, a port may differ and be right: a variance may hold
        # what the old program adds to it.
        wrong = [name for name, share in found.differences["own"].items()
                 if not share <= 1e-6]
        yield ("gives the port the tensors of the old program", not wrong,
               f"with seed {seed}, `{wrong[0] if wrong else ''}` is the first tensor "
               "that still differs.")
