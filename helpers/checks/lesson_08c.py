"""Exercise checks of lesson 08c: a beam search step, and the ranking of captions."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.captions.search import NEVER
from helpers.checks.claims import answering, drawn, exercise, listed, near, same


@exercise(
    "Exercise 1: beam_step",
    "Use `tf.math.top_k` twice: for each hypothesis, and then for all that are left.",
    "The first is `best, words = tf.math.top_k(logp, most)`. What is left is to add "
    "the scores, reshape, use it again, and gather the words with `batch_dims=1`.",
    about={
        "returns the best scores first": (
            "The score of an extension is the score of its hypothesis plus the "
            "log-probability of the word. Limit the extensions of each hypothesis "
            "first, and then take the best of all."),
        "gives each score the parent and the word that it belongs to": (
            "After the first selection, each hypothesis has `most` entries in the "
            "row, and not one for each word. So look up the word among those that "
            "this selection returned, for the same picture."),
    },
)
def check_beam_step(attempt):
    """Checks one step of beam search against a sort of all extensions."""
    for scores, logp, most in drawn(_beam, 24):
        case = (f"with the scores {listed(scores, 4)}, logp {listed(logp, 4)} and "
                f"most = {most}")
        found = _run(attempt, case, scores, logp, most)
        shapes = [*map(np.shape, found)] if isinstance(found, tuple | list) else found
        yield same("returns three tensors [batch, width]", [scores.shape] * 3, shapes,
                   case)
        best, parents, words = found
        yield near("returns the best scores first", _best_scores(scores, logp, most),
                   best, case, 1e-4)
        types = {parents.dtype, words.dtype}
        yield ("returns parents and words as int32", types == {np.dtype(np.int32)},
               f"{case}, it returned {' and '.join(sorted(map(str, types)))}.")
        wrong = _not_extensions(scores, logp, most, *found)
        yield ("gives each score the parent and the word that it belongs to", not wrong,
               f"{case}, {wrong}")


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
    if size % 6 == 5:
        logits = rng.integers(0, 2, logits.shape)  # many words are equally probable
    logp = logits - np.log(np.exp(logits).sum(2, keepdims=True))
    return scores, logp.round(6).astype(np.float32), most


def _best_scores(scores, logp, most):
    """Returns the best scores with at most `most` extensions per hypothesis."""
    allowed = np.sort(logp, 2)[..., ::-1][..., :most]
    every = (scores[..., None] + allowed).reshape(len(scores), -1)
    return np.sort(every, 1)[:, ::-1][:, : scores.shape[1]]


def _not_extensions(scores, logp, most, best, parents, words):
    """Describes the first fault in the parents and words of a beam step."""
    width = scores.shape[1]
    for row, chosen in enumerate(zip(best, parents, words, strict=True)):
        pairs = [(int(parent), int(word)) for parent, word in zip(*chosen[1:],
                                                                  strict=True)]
        where = f"picture {row} has the pairs of parent and word {pairs}"
        if any(not 0 <= p < width or not 0 <= w < logp.shape[2] for p, w in pairs):
            return f"{where}, but an index is out of range."
        if len(set(pairs)) < len(pairs):
            return f"{where}, but one of them occurs twice."
        if max(np.bincount([p for p, _ in pairs])) > most:
            return f"{where}, so a hypothesis has more than {most} extensions."
        due = [scores[row, p] + logp[row, p, w] for p, w in pairs]
        if not np.allclose(due, chosen[0], 1e-4, 1e-4):
            return (f"{where}, whose scores are {listed(np.array(due))}, not "
                    f"{listed(chosen[0])}.")
    return ""


@exercise(
    "Exercise 2: rank_captions",
    'With `direction="DESCENDING"`, `tf.argsort` begins with the best.',
    "To divide by a length of 0 never, use `words = tf.cast(tf.maximum(lengths, 1), "
    "tf.float32)`. What is left are the scores, the unused entries, and "
    "a stable order.",
    about={
        "returns the indices as int32, the best first and unused ones last": (
            "A score may be lower than any number that you choose, so only minus "
            "infinity is low enough for an unused entry. Sort along the captions, and "
            "return the indices themselves."),
    },
)
def check_rank_captions(attempt):
    """Checks the ranking of captions against Python's stable sort."""
    for logps, lengths, power in drawn(_captions, 40):
        case = (f"with the log-probabilities {listed(logps)}, the lengths "
                f"{lengths.tolist()} and the power {power}")
        found = np.asarray(_run(attempt, case, logps, lengths, power))
        due = np.array([_order(*row, power)
                        for row in zip(logps, lengths, strict=True)])
        yield near("returns the indices as int32, the best first and unused ones last",
                   due, found if found.dtype == np.int32 else found.dtype, case)


def _captions(rng, size):
    """Draws caption scores that are equal or clearly different."""
    pictures, width = 1 + size // 8, 1 + size % 8
    lengths = rng.integers(0, 9, [pictures, width])
    lengths[:, rng.integers(width)] = rng.integers(1, 9)  # one is used
    logps = -rng.uniform(0.1, 6e4, [pictures, width]).astype(np.float32)
    logps[:, [0, -1]] *= size % 4 > 0
    if size % 7 == 6:
        logps[:, size % width] = 3 * NEVER  # as low as a search may go
    power = float(rng.choice([0.0, 0.5, 1.0, 1.7]))
    if size % 5 == 4:  # equal scores
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
