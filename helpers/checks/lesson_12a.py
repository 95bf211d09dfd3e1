"""The check of lesson 12a: a sampled loss in which each row has its own sample."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, close, drawn, exercise, shown


@exercise(
    "Exercise 1: own_sample",
    "tf.gather takes ids of any shape: with [row, drawn] it gives vectors of [row, "
    "drawn, units]. sampled_by_hand has the rest.",
    "vectors = tf.gather(weights, ids); the scores are "
    "tf.einsum('ru,rdu->rd', outputs, vectors).",
)
def check_own_sample(attempt):
    """Compares the losses, and their gradients, with NumPy in float64.

    Args:
      attempt: `(weights, biases, outputs, targets, ids, target_count, drawn_count)`
        to the loss of each row, float32 `[row]`.
    """
    for given in drawn(_sampling):
        case = f"targets {given[3].tolist()}, ids {given[4].tolist()}"
        losses, slopes = _run(attempt, case, given)
        due = _losses(*given)
        yield ("the loss of each row", close(losses, due, 1e-3, 1e-3),
               f"{case}, counts {given[5].round(2).tolist()} and "
               f"{given[6].round(2).tolist()}: " + shown(due.round(3), losses))
        for name, place in (("weights", 0), ("biases", 1), ("outputs", 2)):
            slope = _slope(given, place)
            yield ("and its gradients", close(slopes[place], slope, 1e-2, 1e-2),
                   f"{case}, in {name}: " + shown(slope.round(3), slopes[place]))


def _sampling(rng, size):
    rows, few, units = 1 + size // 4, 1 + size % 4, int(rng.integers(1, 6))
    words = int(rng.integers(few + 1, 12))
    loud = 30.0 if size % 5 == 4 else 1.0
    numbers = [rng.normal(0, scale, shape).astype(np.float32) for scale, shape in (
        (loud, [words, units]), (1, [words]), (1, [rows, units]))]
    targets = rng.integers(0, words, rows)
    ids = np.stack([rng.choice(words, few, replace=False) for _ in range(rows)])
    if size % 3 == 0:
        ids[-1, 0] = targets[-1]  # the target was drawn as well
    counts = [rng.uniform(0.05, 3, shape).astype(np.float32)
              for shape in ([rows], [rows, few])]
    return [*numbers, targets, ids, *counts]


def _losses(weights, biases, outputs, targets, ids, target_count, drawn_count):
    losses = []
    for row, target in enumerate(targets):
        def score(word, count, output=outputs[row]):
            return (weights[word].astype(float) @ output.astype(float)
                    + biases[word] - np.log(count))

        true = score(target, target_count[row])
        rivals = [score(word, count) for word, count in
                  zip(ids[row], drawn_count[row], strict=True) if word != target]
        losses.append(np.logaddexp.reduce([true, *rivals]) - true)
    return np.array(losses)


def _slope(given, place, step=1e-4):
    """The gradient of the summed loss, from differences."""
    slope = np.zeros(given[place].shape)
    for index in np.ndindex(*slope.shape):
        sums = []
        for sign in (1, -1):
            moved = [np.array(one, float) if k < 3 else one
                     for k, one in enumerate(given)]
            moved[place][index] += sign * step
            sums.append(_losses(*moved).sum())
        slope[index] = (sums[0] - sums[1]) / (2 * step)
    return slope


def _run(attempt, case, given):
    with tf.Graph().as_default(), tf1.Session() as session, answering(case):
        tensors = [tf.constant(value) for value in given]
        losses = attempt(*tensors)
        slopes = tf1.gradients(losses, tensors[:3])
        slopes = [tf.zeros_like(t) if s is None else tf.convert_to_tensor(s)
                  for s, t in zip(slopes, tensors, strict=False)]
        return session.run((losses, slopes))
