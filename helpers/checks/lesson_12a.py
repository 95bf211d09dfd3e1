"""Exercise check of lesson 12a: a sampled loss with separate samples for each row."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, listed, near


@exercise(
    "Exercise 1: own_sample",
    "`tf.gather` takes ids of any shape. The rest is as in `sampled_by_hand`.",
    "`vectors = tf.gather(weights, words)`, for targets and for ids. The scores begin "
    'with `tf.einsum("ru,rau->ra", outputs, vectors)`. What is left are the biases, '
    "the counts, a target among its own ids, and the loss.",
    about={
        "returns the loss of each row": (
            "Subtract the logarithm of its count from each score, also from that of "
            "the target. Compare the drawn words with the target of their own row "
            "only, and give a hit a score that is far below all others."),
        "has the right gradients": (
            "The loss of a row is the cross entropy of the target among its own "
            "words. If its value is right, look for an op through which no gradient "
            "flows."),
    },
    unknown=False,  # of the batch it is, below; of the weights it would not be
)
def check_own_sample(attempt):
    """Checks sampled losses and their gradients against NumPy in float64."""
    for given in drawn(_sampling, 12):
        case = (f"with targets {given[3].tolist()}, ids {given[4].tolist()}, counts "
                f"{listed(given[5], 3)} and {listed(given[6], 3)}, and biases "
                f"{listed(given[1], 3)}")
        losses, slopes, sparse = _run(attempt, case, given)
        due, due_slopes = _oracle(*given)
        yield near("returns the loss of each row", due, losses, case, 1e-3, 1e-3)
        for name, one, other in zip(("weights", "biases", "outputs"), due_slopes,
                                    slopes, strict=True):
            yield near("has the right gradients", one, other, f"{case}, for {name}",
                       1e-2, 1e-2)
        yield ("has a gradient for `weights` with only the rows that were read", sparse,
               "the gradient is dense, as large as all weights. Read rows with "
               "`tf.gather`.")


def _sampling(rng, size):
    rows, few, units = 1 + size // 4, 1 + size % 4, int(rng.integers(1, 6))
    words = int(rng.integers(few + 1, 12))
    loud = 30.0 if size % 5 == 4 else 1.0
    numbers = [(rng.normal(0, scale, shape) * (rng.random(shape) < 0.9)).astype("f")
               for scale, shape in (
                   (loud, [words, units]), (1, [words]), (1, [rows, units]))]
    if size % 4 == 3:
        numbers[1] = (numbers[1] - 2000).astype("f")  # a mask has to be lower
    targets = rng.integers(0, words, rows)
    ids = np.stack([rng.choice(words, few, replace=False) for _ in range(rows)])
    if size % 3 == 2:
        ids[0, -1] = ids[0, 0]  # a word that was drawn twice
    if size % 5 > 2:
        ids[-1, 0] = targets[-1]  # the target was drawn as well
    counts = [(10 ** rng.uniform(-4, 0.5, shape)).astype(np.float32)
              for shape in ([rows], [rows, few])]
    return [*numbers, targets, ids, *counts]


def _oracle(weights, biases, outputs, targets, ids, target_count, drawn_count):
    """Computes the expected losses in float64, and the gradients of their sum."""
    weights, biases, outputs = (a.astype(float) for a in (weights, biases, outputs))
    losses, slopes = [], [np.zeros_like(a) for a in (weights, biases, outputs)]
    for row, target in enumerate(targets):
        rivals = [(word, count) for word, count in zip(
            ids[row], drawn_count[row], strict=True) if word != target]
        words, counts = zip((target, target_count[row]), *rivals, strict=True)
        scores = np.array([weights[word] @ outputs[row] + biases[word] - np.log(count)
                           for word, count in zip(words, counts, strict=True)])
        losses.append(np.logaddexp.reduce(scores) - scores[0])
        pulls = np.exp(scores - np.logaddexp.reduce(scores))
        pulls[0] -= 1
        for word, pull in zip(words, pulls, strict=True):
            slopes[0][word] += pull * outputs[row]
            slopes[1][word] += pull
            slopes[2][row] += pull * weights[word]
    return np.array(losses), slopes


def _run(attempt, case, given):
    with tf.Graph().as_default(), tf1.Session() as session, answering(case):
        tensors = [tf.constant(value) for value in given[:2]] + [
            tf1.placeholder(value.dtype, [None, *value.shape[1:]])
            for value in given[2:]]
        losses = tf.convert_to_tensor(attempt(*tensors), tf.float32)
        slopes = tf1.gradients(losses, tensors[:3], unconnected_gradients="zero")
        found = session.run((losses, [*map(tf.convert_to_tensor, slopes)]),
                            dict(zip(tensors[2:], given[2:], strict=True)))
        return *found, isinstance(slopes[0], tf.IndexedSlices)
