"""The checks of lesson 08c: one step of a beam, and the order of captions."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.captions.search import NEVER
from helpers.checks.claims import answering, drawn, exercise, near, same


@exercise(
    "Exercise 1: beam_step",
    "`tf.math.top_k` twice: of each beginning, then of what is left of all.",
    "The first: `best, words = tf.math.top_k(logp, most)`. What is left: add, reshape, "
    "the second, and gather the words with `batch_dims=1`.",
)
def check_beam_step(attempt):
    """Compares `(scores, logp, most)` with all extensions, sorted in Python."""
    for scores, logp, most in drawn(_beam):
        case = f"scores {scores.tolist()}, logp {logp.tolist()}, most {most}"
        found = _run(attempt, case, scores, logp, most)
        shapes = [*map(np.shape, found)] if isinstance(found, tuple | list) else found
        yield same("three tensors [batch, width]", [scores.shape] * 3, shapes, case)
        due = _extensions(scores, logp, most)
        yield near("scores, best first", due[0], found[0], case, 1e-4)
        for name, one, value in zip(("parents", "words"), due[1:], found[1:],
                                    strict=True):
            yield near(f"{name}, int32", one,
                       value if value.dtype == np.int32 else value.dtype, case)


def _beam(rng, size):
    batch, width, words = 1 + size // 5, 1 + size % 4, int(rng.integers(2, 7))
    most = int(rng.integers(1, words + 1))
    far = 150 if size % 3 == 2 else 1.5
    scores = -np.cumsum(rng.uniform(0.1, far, [batch, width]), 1)
    scores[:, 0] *= size % 2  # a beam begins with 0
    if size % 4 == 3:
        scores[:, 1] = NEVER  # not filled yet
    scores = rng.permuted(scores, axis=1).astype(np.float32)
    logits = rng.normal(0, 50 if size % 5 == 4 else 2, [batch, width, words])
    logp = logits - np.log(np.exp(logits).sum(2, keepdims=True))
    return scores, logp.round(6).astype(np.float32), most


def _extensions(scores, logp, most):
    rows = []
    for before, after in zip(scores, logp, strict=True):
        every = []
        for parent, words in enumerate(after):
            for word in sorted(range(len(words)), key=lambda w: -words[w])[:most]:
                every.append((before[parent] + words[word], parent, word))
        rows.append(sorted(every, reverse=True)[: len(before)])
    return [np.array([[one[k] for one in row] for row in rows]) for k in range(3)]


@exercise(
    "Exercise 2: rank_captions",
    '`tf.argsort` begins with the best by `direction="DESCENDING"`.',
    "`words = tf.cast(tf.maximum(lengths, 1), tf.float32)`: nothing is divided by 0. "
    "What is left: the scores, and their order, of equal ones as they came.",
)
def check_rank_captions(attempt):
    """Compares `(logps, lengths, power)` with Python's sort, picture by picture."""
    for logps, lengths, power in drawn(_captions, 40):
        case = f"log p {logps.tolist()}, lengths {lengths.tolist()}, power {power}"
        found = _run(attempt, case, logps, lengths, power)
        due = np.array([_order(*row, power)
                        for row in zip(logps, lengths, strict=True)])
        found = np.asarray(found)
        yield near("best first, what is not there last, as int32", due,
                   found if found.dtype == np.int32 else found.dtype, case)


def _captions(rng, size):
    """Draws scores that are equal or apart, so that rounding swaps none."""
    pictures, width = 1 + size // 8, 1 + size % 8
    lengths = rng.integers(0, 9, [pictures, width])
    lengths[:, rng.integers(width)] = rng.integers(1, 9)  # one is there
    logps = -rng.uniform(0.1, 6e4, [pictures, width]).astype(np.float32)
    logps[:, [0, -1]] *= size % 4 > 0
    power = float(rng.choice([0.0, 0.5, 1.0, 1.7]))
    if size % 5 == 4:  # equal ones
        logps[:, -1], lengths[:, -1] = logps[:, 0], lengths[:, 0]
    return logps, lengths.astype(np.int32), power


def _order(logps, lengths, power):
    score = [p / float(n) ** power if n else -np.inf
             for p, n in zip(logps, lengths, strict=True)]
    return sorted(range(len(score)), key=lambda k: (-score[k], k))


def _run(attempt, case, *values):
    with tf.Graph().as_default(), tf1.Session() as session, answering(case):
        returned = attempt(*(tf.constant(value) if isinstance(value, np.ndarray)
                             else value for value in values))
        return session.run(returned)
