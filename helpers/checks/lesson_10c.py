"""Exercise check of lesson 10c: a training with Adam that Keras continues."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from helpers.checks.claims import answering, drawn, exercise, near, same

RATE, EPSILON = 0.1, 1e-8
BETAS = (0.9, 0.999), (0.5, 0.99), (0.999, 0.9)


@exercise(
    "Exercise 1: adam_goes_on",
    "The end of each `path` in `optimizer.variables` shows which slot it is.",
    'Loop over `("momentum", "Adam"), ("velocity", "Adam_1")`, pairs of the end of a '
    "path and an old name. What is left is the number of steps, from the logarithm of "
    "a power that is not 0.",
    about={
        "sets `iterations` to the number of steps": (
            "The exponent of a power is the number of steps plus one. A logarithm in "
            "float32 is rarely a whole number, so round it. Take the larger of the "
            "two powers, with its own beta of the optimizer."),
        "takes the next three steps as TensorFlow 1 does": (
            "`NAME/Adam` is the average of the gradients, which Keras calls momentum. "
            "The slots of the optimizer have the order of `names`."),
        "runs without an error": (
            "The logarithm of 0 is minus infinity. If one power is 0, the other one "
            "still tells the number of steps."),
    },
)
def check_adam_goes_on(attempt):
    """Checks that Keras's Adam continues a TensorFlow 1 training correctly."""
    for old, slopes in drawn(_old_training, how_many=8):
        names = list(old.weights)
        weights = [tf.Variable(old.weights[name], name=name) for name in names]
        optimizer = tf.keras.optimizers.Adam(RATE, *old.betas, epsilon=EPSILON)
        optimizer.build(weights)
        case = f"with {len(names)} weights, {old.steps} steps, betas {old.betas}"
        with answering(case):
            attempt(optimizer, names, old.arrays())
        yield same("sets `iterations` to the number of steps", old.steps,
                   int(optimizer.iterations), case)
        for gradients in slopes:
            old.step(gradients)
            with answering(case):
                optimizer.apply(list(map(tf.constant, gradients)), weights)
        yield near("takes the next three steps as TensorFlow 1 does",
                   list(old.weights.values()), [w.numpy() for w in weights],
                   f"{case}: the weights", 1e-4, 1e-5)


class _Adam(NamedTuple):
    """NumPy version of TensorFlow 1's Adam, including its slot variables."""

    weights: dict[str, np.ndarray]
    means: dict[str, np.ndarray]
    squares: dict[str, np.ndarray]
    betas: tuple[float, float]
    steps: int
    powers: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns the checkpoint arrays by name, in an unhelpful order."""
        found = {"beta2_power": self.powers[1], "beta1_power": self.powers[0]}
        for name in reversed(self.weights):
            found |= {f"{name}/Adam_1": self.squares[name].copy(),
                      f"{name}/Adam": self.means[name].copy(),
                      name: self.weights[name].copy()}
        return found

    def step(self, gradients: list[np.ndarray]) -> None:
        """Updates the weights, slots, and beta powers in place by one step."""
        one, two = self.betas
        rate = RATE * np.sqrt(1 - self.powers[1]) / (1 - self.powers[0])
        for name, slope in zip(self.weights, gradients, strict=True):
            mean, square = self.means[name], self.squares[name]
            mean += (1 - one) * (slope - mean)
            square += (1 - two) * (slope * slope - square)
            self.weights[name] -= rate * mean / (np.sqrt(square) + EPSILON)
        self.powers[:] *= np.array(self.betas, np.float32)
        # TensorFlow stores 0 where float32 would lose precision.
        self.powers[self.powers < np.finfo(np.float32).tiny] = 0


def _old_training(rng, size):
    """Draws a TensorFlow 1 training, and the gradients of three more steps."""
    shapes = [[2 + i * (size // 3), 3][: 2 - size % 2] for i in range(1 + size % 3)]
    names = [f"net/w{(5 - 2 * i) % 7}" for i in range(len(shapes))]

    def fresh(scale):
        return {name: scale * rng.normal(size=shape).astype(np.float32)
                for name, shape in zip(names, shapes, strict=True)}

    old = _Adam(fresh(1.0), fresh(0.0), fresh(0.0), BETAS[size % 3],
                (3, 0, 41, 300, 2500, 1200, 2000, 70)[size], np.ones(2, np.float32))
    old.powers[:] *= np.array(old.betas, np.float32)
    for _ in range(old.steps):
        old.step(list(fresh(0.5).values()))
    return old, [list(fresh(0.5).values()) for _ in range(3)]
