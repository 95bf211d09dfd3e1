"""The checks of lesson 08c: one step of a beam, and the order of captions."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, close, drawn, exercise, shown


@exercise(
    "Exercise 1: beam_step",
    "tf.math.top_k twice: over the words of each hypothesis, then over what is left "
    "of all. tf.gather(..., batch_dims=1) brings the words along.",
    "The first: best, words = tf.math.top_k(logp, most); how many are kept per "
    "hypothesis is now the last axis.",
)
def check_beam_step(attempt):
    """Compares with all extensions, sorted in Python.

    Args:
      attempt: `(scores float32 [batch, width], logp float32 [batch, width, words],
        most)` to new scores, parents and words, each `[batch, width]`.
    """
    for scores, logp, most in drawn(_beam):
        case = f"scores {scores.tolist()}, logp {logp.tolist()}, most {most}"
        found = _run(attempt, case, scores, logp, most)
        three = isinstance(found, tuple | list) and len(found) == 3
        yield ("three tensors [batch, width]", three and all(
            np.shape(part) == scores.shape for part in found),
            f"{case}: " + shown([scores.shape] * 3, [np.shape(part) for part in found]
                                if three else type(found).__name__))
        for name, value, due in zip(
            ("scores, best first", "parents, int32", "words, int32"),
            found, _extensions(scores, logp, most), strict=True,
        ):
            kind = np.asarray(value).dtype
            yield (name, close(value, due, 1e-4) and ("int32" not in name
                                                      or kind == np.int32),
                   f"{case}: {kind}, " + shown(due, np.asarray(value)))


def _beam(rng, size):
    batch, width, words = 1 + size // 5, 1 + size % 4, int(rng.integers(2, 7))
    most = int(rng.integers(1, words + 1))
    scores = -np.cumsum(rng.uniform(0.1, 1.5, [batch, width]), 1)
    scores = rng.permuted(scores, axis=1).astype(np.float32)
    logits = rng.normal(0, 2, [batch, width, words])
    logp = logits - np.log(np.exp(logits).sum(2, keepdims=True))
    return scores, logp.astype(np.float32), most


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
    "tf.where puts -np.inf where there is no caption; tf.argsort sorts rows, and "
    "direction=\"DESCENDING\" begins with the best.",
    "words = tf.cast(tf.maximum(lengths, 1), tf.float32): nothing is divided by 0.",
)
def check_rank_captions(attempt):
    """Compares with Python's sort, one picture at a time.

    Args:
      attempt: `(logps float32 [picture, caption], lengths int32 [picture, caption],
        power)` to int32 `[picture, caption]`.
    """
    for logps, lengths, power in drawn(_captions, 40):
        case = f"log p {logps.tolist()}, lengths {lengths.tolist()}, power {power}"
        found = _run(attempt, case, logps, lengths, power)
        due = np.array([_order(*row, power)
                        for row in zip(logps, lengths, strict=True)])
        yield ("best first, what is not there last, as int32",
               close(found, due) and np.asarray(found).dtype == np.int32,
               f"{case}: " + shown(due, found))


def _captions(rng, size):
    pictures, width = 1 + size // 8, 1 + size % 8
    lengths = rng.integers(0, 9, [pictures, width])
    lengths[:, rng.integers(width)] = rng.integers(1, 9)  # one is there
    logps = -rng.uniform(0.1, 60.0, [pictures, width]).astype(np.float32)
    power = float(rng.choice([0.0, 0.5, 1.0, 1.7]))
    if size % 5 == 4:  # equal ones
        logps[:, -1], lengths[:, -1] = logps[:, 0], lengths[:, 0]
    if _near_ties(logps, lengths, power):
        return _captions(rng, size)
    return logps, lengths.astype(np.int32), power


def _order(logps, lengths, power):
    score = [p / float(n) ** power if n else -np.inf
             for p, n in zip(logps, lengths, strict=True)]
    return sorted(range(len(score)), key=lambda k: (-score[k], k))


def _near_ties(logps, lengths, power):
    """Two scores that rounding may swap make no fair case; equal ones do."""
    for row, words in zip(logps, lengths, strict=True):
        scores = sorted({(float(p), int(n)) for p, n in zip(row, words, strict=True)
                         if n}, key=lambda pair: pair[0] / pair[1] ** power)
        values = [p / n**power for p, n in scores]
        if any(b - a < 1e-4 * abs(a)
               for a, b in zip(values, values[1:], strict=False)):
            return True
    return False


def _run(attempt, case, *values):
    with tf.Graph().as_default(), tf1.Session() as session, answering(case):
        returned = attempt(*(tf.constant(value) if isinstance(value, np.ndarray)
                             else value for value in values))
        return session.run(returned)
