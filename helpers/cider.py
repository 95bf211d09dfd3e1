"""CIDEr-D, a caption metric in which rare n-grams count more.

Taught in lesson 12b, "CIDEr-D".
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from helpers.captions.metrics import check_references

LONGEST_PIECE = 4  # words
SIGMA = 6.0  # words; width of the length penalty
SCALE = 10.0

Pieces = Counter[tuple[str, ...]]


def cider_d(
    references: Sequence[Sequence[str]], candidates: Sequence[str]
) -> np.ndarray:
    """Computes the CIDEr-D score of each candidate caption, from 0 to 10.

    The weight of an n-gram is its share of the sentence's n-grams times the logarithm
    of the number of pictures divided by the number of pictures whose references contain
    it. The candidate's weights are clipped to those of the reference, and a difference
    in length lowers the score. The mean over all candidates is the score of the system.
    Words are separated by spaces and are not stemmed.

    Args:
      references: One list of captions per candidate, with at least one caption. The
        references also determine how rare an n-gram is, so the scores of different sets
        of pictures cannot be compared.
      candidates: One caption per picture.

    Returns:
      Scores, float64 `[picture]`, each from 0 to 10.

    Raises:
      ValueError: If there are no candidates, or if a candidate has no references.

    Source: Vedantam, Zitnick, Parikh, "CIDEr: Consensus-based Image Description
    Evaluation", 2015.
    """
    check_references(references, candidates)
    reference_counts = [[_pieces(caption) for caption in captions]
                        for captions in references]
    rarity = _rarity(reference_counts)
    scores = []
    for candidate, captions in zip(candidates, reference_counts, strict=True):
        counts = _pieces(candidate)
        alike = [_likeness(counts, true, rarity) for true in captions]
        scores.append(SCALE * np.mean(alike))
    return np.array(scores)


class _Rarity(dict):
    """Inverse document frequency of each n-gram over the pictures' references.

    An n-gram that no reference contains counts as if one picture had it.
    """

    def __init__(self, pictures: int, seen: Counter):
        super().__init__((piece, math.log(pictures / n)) for piece, n in seen.items())
        self._never = math.log(pictures)

    def __missing__(self, piece: tuple[str, ...]) -> float:
        return self._never


def _rarity(told: Sequence[Sequence[Pieces]]) -> _Rarity:
    pictures = (set[tuple[str, ...]]().union(*captions) for captions in told)
    return _Rarity(len(told), Counter(piece for pieces in pictures for piece in pieces))


def _likeness(said: Pieces, true: Pieces, rarity: _Rarity) -> float:
    """Computes the CIDEr-D similarity of a candidate and one reference.

    It is the mean, over the lengths of n-grams, of the clipped cosine similarity, times
    a factor that falls with the difference in length.
    """
    total = 0.0
    for length in range(1, LONGEST_PIECE + 1):
        ours, theirs = (
            _weights(pieces, length, rarity) for pieces in (said, true)
        )
        norms = _norm(ours.values()) * _norm(theirs.values())
        shared = sum(
            min(weight, theirs[piece]) * theirs[piece]
            for piece, weight in ours.items() if piece in theirs
        )
        total += shared / norms if norms else 0.0
    apart = _words(said) - _words(true)
    return total / LONGEST_PIECE * math.exp(-(apart**2) / (2 * SIGMA**2))


def _weights(pieces, length, rarity) -> dict[tuple[str, ...], float]:
    whole = pieces.total()
    return {
        piece: n / whole * rarity[piece]
        for piece, n in pieces.items() if len(piece) == length
    }


def _pieces(caption: str) -> Pieces:
    """Counts the n-grams of a caption, from one to four words."""
    words = caption.split()
    return Counter(
        tuple(words[k : k + length])
        for length in range(1, LONGEST_PIECE + 1)
        for k in range(len(words) - length + 1)
    )


def _words(pieces: Pieces) -> int:
    return sum(n for piece, n in pieces.items() if len(piece) == 1)


def _norm(weights: Iterable[float]) -> float:
    return math.sqrt(sum(weight**2 for weight in weights))
