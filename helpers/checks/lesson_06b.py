"""Exercise check of lesson 06b: a loss with weight decay."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near, tensor

# The last two parts of a name, and whether decay is for it.
NAMES = {"kernel": True, "bias": False, "kernel/Adam": False, "my_kernel": False}
SCOPES = ("fc6/", "net/conv1_1/", "tower/net/fc7/", "kernel/a/", "bias/b/")


@exercise(
    "Exercise 1: a loss with decay",
    'The line `if variable.op.name.endswith("/kernel"):` selects the kernels.',
    "For each kernel, `loss += strength * tf.nn.l2_loss(variable)`. What is left is "
    "the loop, and to return the loss.",
    about={
        "adds half the squares of all kernels, and of nothing else": (
            "Compare the end of the name, with its slash, and ask neither for the "
            "rest of the name nor whether the variable is trained. `tf.nn.l2_loss` "
            "sums the squares, and contains the half."),
        "runs without an error": (
            "The list may hold no kernel at all, and then nothing is added. Kernels "
            "and loss have the same dtype, so you need not convert anything."),
    },
)
def check_with_decay(attempt):
    """Checks a loss with weight decay, and its gradients, against NumPy."""
    for values, pulls, start, dtype, strength in drawn(_case, 12):
        about = (f"for {dtype.name}, strength {strength}, and the variables "
                 f"{list(values)}")
        with tf.Graph().as_default(), tf1.Session() as session:
            variables = [tf1.get_variable(name, initializer=value, trainable=k % 3 < 2)
                         for k, (name, value) in enumerate(values.items())]
            loss = sum(
                pull * tf.reduce_sum(variable)
                for pull, variable in zip(pulls, variables, strict=True)) + start
            tf1.get_variable("other/kernel", initializer=dtype.as_numpy_dtype(9))
            with answering(about):
                found = attempt(loss, list(variables), strength)  # all but that one
            yield tensor("returns a scalar tensor with the dtype of the loss", dtype,
                         found, about)
            gradients = tf1.gradients(found, variables)
            session.run(tf1.global_variables_initializer())
            with answering(about):
                total, *slopes = session.run([found, *gradients])
        decayed = [name.endswith("/kernel") for name in values]
        exact = 1e-4 if dtype == tf.float32 else 1e-11
        due = start + sum(
            pull * value.sum() + decay * strength / 2 * (value**2).sum()
            for pull, value, decay in zip(pulls, values.values(), decayed, strict=True))
        yield near("adds half the squares of all kernels, and of nothing else", due,
                   total, about, exact, exact)
        due = [pull + decay * strength * value for pull, value, decay in zip(
            pulls, values.values(), decayed, strict=True)]
        yield near("pulls each kernel towards zero, and keeps the gradient of the loss",
                   due, slopes, about, exact, exact)


def _case(rng, size):
    """Draws variables, gradients, an initial loss, a dtype, and a decay strength."""
    dtype = [np.float32, np.float64][size % 2]
    names = ["kernel", *(scope + name for scope in SCOPES for name in NAMES)]
    chosen = rng.choice(names, 1 + size, replace=False).tolist()
    if size % 4 == 3 and "kernel" not in chosen:
        chosen[0] = "kernel"  # in no scope: its name does not end in `/kernel`
    values = {
        name: rng.normal(size=rng.integers(1, 5, rng.integers(1, 4))).astype(dtype)
        for name in chosen
    }
    strength = float(rng.choice([0.0, 2**-11, 0.375, 2.0]))
    pulls = rng.normal(size=len(values)) * (size % 3 > 0)
    return values, pulls, float(size % 3), tf.as_dtype(dtype), strength
