"""CIDEr-D, a caption metric in which rare n-grams count more.

Taught in lesson 12b, "CIDEr-D".
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from helpers.captions.metrics import check_references

LONGEST_PIECE = 4  # words
SIGMA = 6.0  # words; how fast a difference in length costs
SCALE = 10.0

Pieces = Counter[tuple[str, ...]]


def cider_d(
    references: Sequence[Sequence[str]], candidates: Sequence[str]
) -> np.ndarray:
    """Computes the CIDEr-D score of each candidate caption, from 0 to 10.

    A piece of one to four words weighs its share of the sentence's pieces, times the
    logarithm of pictures over pictures whose references have it. A candidate's weight
    counts as far as the reference has it (clipped), and each word of difference in
    length costs. Words are what stands between spaces; they are not stemmed.

    Args:
      references: per candidate its captions, one or more. How rare a piece is, they
        say as well: scores of different sets of pictures cannot be compared.
      candidates: one caption per picture.

    Returns:
      float64 `[picture]`, each from 0 to 10.

    Raises:
      ValueError: no candidates, or a candidate without references.

    Source: Vedantam, Zitnick, Parikh, "CIDEr: Consensus-based Image Description
    Evaluation", 2015.
    """
    check_references(references, candidates)
    told = [[_pieces(caption) for caption in captions] for captions in references]
    rarity = _rarity(told)
    scores = []
    for candidate, captions in zip(candidates, told, strict=True):
        said = _pieces(candidate)
        alike = [_likeness(said, true, rarity) for true in captions]
        scores.append(SCALE * np.mean(alike))
    return np.array(scores)


class _Rarity(dict):
    """Inverse document frequency of each n-gram over the pictures' references."""

    def __init__(self, pictures: int, seen: Counter):
        super().__init__((piece, math.log(pictures / n)) for piece, n in seen.items())
        self._never = math.log(pictures)

    def __missing__(self, piece: tuple[str, ...]) -> float:
        return self._never


def _rarity(told: Sequence[Sequence[Pieces]]) -> _Rarity:
    pictures = (set[tuple[str, ...]]().union(*captions) for captions in told)
    return _Rarity(len(told), Counter(piece for one in pictures for piece in one))


def _likeness(said: Pieces, true: Pieces, rarity: _Rarity) -> float:
    """Computes the CIDEr-D similarity of a candidate and one reference."""
    found = 0.0
    for length in range(1, LONGEST_PIECE + 1):
        ours, theirs = (
            _weights(pieces, length, rarity) for pieces in (said, true)
        )
        norms = _norm(ours.values()) * _norm(theirs.values())
        shared = sum(
            min(weight, theirs[piece]) * theirs[piece]
            for piece, weight in ours.items() if piece in theirs
        )
        found += shared / norms if norms else 0.0
    apart = _words(said) - _words(true)
    return found / LONGEST_PIECE * math.exp(-(apart**2) / (2 * SIGMA**2))


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
