"""The checks of lesson 10: porting TF1 code."""

import numpy as np
import tensorflow as tf

from helpers.checks.report import exercise


@exercise(
    "Exercise 1: RunningMean",
    "make two tf.Variable in __init__, then a method update under @tf.function.",
)
def check_running_mean(attempt):
    """Feeds batches of many lengths and compares with NumPy's mean of all of them.

    Args:
      attempt: the class; it is made with no arguments.
    """
    yield ("is a tf.Module with a method `update`",
           issubclass(attempt, tf.Module) and hasattr(attempt, "update"),
           "keep `class RunningMean(tf.Module)` and give it `def update(self, batch)`.")
    module = attempt()
    yield ("holds its state in two variables that `module.variables` lists",
           len(module.variables) == 2,
           "call super().__init__(), then make self.total and self.count.")
    random, seen, means = np.random.default_rng(3), [], []
    for length in (1, 2, 5, 3, 7):
        seen.append(random.normal(size=length).astype(np.float32))
        means.append(float(module.update(seen[-1])))
    expected = [np.concatenate(seen[: n + 1]).mean() for n in range(len(seen))]
    yield ("returns the mean of everything fed so far, batches of any length",
           np.allclose(means, expected, atol=1e-5),
           f"after batches of 1, 2, 5, 3, 7 the means are {np.round(expected, 3)}; "
           f"yours are {np.round(means, 3)}.")
    other = attempt()  # a tf.function holds its object only weakly
    yield ("two objects do not share their state",
           np.isclose(float(other.update(np.float32([4.0]))), 4.0),
           "make the variables in __init__, not in the body of the class.")
    traces = getattr(module.update, "experimental_get_tracing_count", lambda: 0)()
    yield ("is traced once, not once per length",
           traces == 1,
           "use @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)]); "
           f"it was traced {traces} times (0: there is no tf.function).")


@exercise(
    "Exercise 2: keras_lstm_weights",
    "np.split(kernel, 4, axis=1) gives the four gates; put them in Keras's order.",
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
    weights = attempt(kernel.copy(), bias.copy())
    yield ("returns three arrays",
           isinstance(weights, (list, tuple)) and len(weights) == 3,
           "return [kernel, recurrent_kernel, bias].")
    shapes = [np.shape(w) for w in weights]
    wanted = [(values, 4 * units), (units, 4 * units), (4 * units,)]
    yield ("of the shapes that Keras wants", shapes == wanted,
           f"wanted {wanted}, got {shapes}; units is len(bias) // 4, and the first "
           "rows of the kernel belong to the input.")
    words = random.normal(size=[2, 4, values]).astype(np.float32)
    layer = tf.keras.layers.LSTM(units)
    layer.build([None, None, values])
    layer.set_weights([np.asarray(w) for w in weights])
    oracle = _basic_lstm(words, kernel, bias)
    no_forget = np.abs(layer(words) - _basic_lstm(words, kernel, bias, 0.0)).max()
    yield ("Keras gives what the old cell gave",
           np.abs(layer(words) - oracle).max() < 1e-5,
           "the order is right, but the 1 that the old cell adds to its forget gate "
           "is missing from the bias." if no_forget < 1e-5 else
           "put the gates in the order input, forget, candidate, output, in the "
           "kernel and in the bias, and add 1 to the bias of the forget gate.")


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
