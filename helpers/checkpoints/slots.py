"""Loads the optimizer slots of a TensorFlow 1 checkpoint into Keras 3.

Taught in lesson 10c, "The same thing today": `optimizer.variables` lists slots by path.
"""

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from helpers.arguments import numbers, whole

# For each class, the ends of the slots' paths and the suffixes of their TF1 names.
SLOTS = {
    "SGD": {"momentum": "/Momentum"},
    "Adagrad": {"accumulator": "/Adagrad"},
    "Adam": {"momentum": "/Adam", "velocity": "/Adam_1"},
    "RMSprop": {"velocity": "/RMSProp", "momentum": "/RMSProp_1"},
}


@numbers(step=whole(0, 2**63 - 1))
def load_slots(
    optimizer: tf.keras.optimizers.Optimizer,
    arrays: Callable[[str], Sequence[np.ndarray]],
    step: int,
) -> None:
    """Loads the slot variables of a TensorFlow 1 training into a Keras optimizer.

    In Keras, the momentum slot contains steps, whereas in TensorFlow 1 it contains
    gradients, so the values are converted with the current learning rate. Keras has no
    equivalent of the sparse update of an embedding, in which TensorFlow 1 changes only
    the rows that occur in the batch.

    Args:
      optimizer: Keras optimizer that was built for the weights.
      arrays: Function that returns TensorFlow 1's arrays, in the order of these
        weights, for the suffix of their names, such as `"/Adam_1"`.
      step: Number of steps that the training has made.

    Raises:
      ValueError: If the class of the optimizer is not supported, if it has not been
        built, or if an array does not fit its slot.
    """
    kind = type(optimizer).__name__
    if kind not in SLOTS:
        supported = ", ".join(SLOTS)
        raise ValueError(
            f"Optimizer {kind} is not supported. Use one of {supported}, or assign the "
            "slots yourself."
        )
    if not optimizer.built:
        raise ValueError(
            "The optimizer must be built before its slots can be loaded. Call "
            "optimizer.build(weights) first."
        )
    for ending, suffix in SLOTS[kind].items():
        slots = [v for v in optimizer.variables if v.path.endswith(f"_{ending}")]
        scale = -float(optimizer.learning_rate) if kind == "SGD" else 1
        given = arrays(suffix) if slots else []  # momentum may be off
        for variable, array in zip(slots, given, strict=True):
            if variable.shape != np.shape(array):
                raise ValueError(
                    f"Slot {variable.path} has shape {variable.shape}, but got an "
                    f"array of shape {np.shape(array)}. Pass the arrays in the order "
                    "of the optimizer's weights."
                )
            variable.assign(scale * array)
    optimizer.iterations.assign(step)
