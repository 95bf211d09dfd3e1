"""Metrics for captions: BLEU, the share of exact matches, and perplexity.

Taught in lesson 08c, "How good is it?".
"""

import math
from collections.abc import Sequence

from sacrebleu.metrics import BLEU

from helpers.arguments import numbers, real

HIGHEST_ORDER = 4


def bleu(
    references: Sequence[Sequence[str]], candidates: Sequence[str]
) -> list[float]:
    """Computes corpus-level BLEU-1 to BLEU-4 without smoothing.

    The matches of all candidates are summed before the division, so the result differs
    from the mean of sentence scores. The brevity penalty uses the reference whose
    length is closest to that of the candidate. Words are separated by spaces.

    Args:
      references: One list of captions per candidate. The lists may differ in length.
      candidates: One caption per picture.

    Returns:
      BLEU-1, BLEU-2, BLEU-3, and BLEU-4, each from 0 to 1.

    Raises:
      ValueError: If there are no candidates, or if a candidate has no references.

    Source: Papineni et al., "BLEU", 2002; computed by sacrebleu, no smoothing.
    """
    check_references(references, candidates)
    most = max(len(captions) for captions in references)
    streams = [
        [captions[k] if k < len(captions) else None for captions in references]
        for k in range(most)
    ]
    scores = []
    for order in range(1, HIGHEST_ORDER + 1):
        metric = BLEU(
            max_ngram_order=order, tokenize="none", smooth_method="none", force=True
        )
        # None marks a missing reference, although the type hints do not allow it.
        score = metric.corpus_score(list(candidates), streams)  # type: ignore[arg-type]
        scores.append(score.score / 100)
    return scores


def exact_share(
    references: Sequence[Sequence[str]], candidates: Sequence[str]
) -> float:
    """Returns the share of candidates that equal one of their references exactly.

    Args:
      references: One list of captions per candidate.
      candidates: One caption per picture.

    Raises:
      ValueError: If there are no candidates, or if a candidate has no references.
    """
    check_references(references, candidates)
    pairs = zip(references, candidates, strict=True)
    return sum(text in captions for captions, text in pairs) / len(candidates)


@numbers(loss_sum=real(0), word_count=real(0, above=True))
def perplexity(loss_sum: float, word_count: float) -> float:
    """Computes the perplexity per word from the loss summed over a whole split.

    Args:
      loss_sum: Sum of the masked losses of all batches, in nats.
      word_count: Sum of the masks of all batches. Do not average the means of the
        batches, because batches contain different numbers of words.

    Returns:
      The exponential of the mean loss per word. It is infinity if the mean loss is too
      large for a float (above 709 nats).

    Raises:
      ValueError: If there are no words.
    """
    try:
        return math.exp(loss_sum / word_count)
    except OverflowError:
        return math.inf


def check_references(
    references: Sequence[Sequence[str]], candidates: Sequence[str]
) -> None:
    """Raises `ValueError` unless every candidate has a list of references."""
    if not candidates or len(references) != len(candidates):
        raise ValueError(
            "Expected at least one candidate and one list of references per candidate, "
            f"but got {len(candidates)} candidates and {len(references)} lists."
        )
    for k, captions in enumerate(references):
        if not captions or isinstance(captions, str):
            raise ValueError(
                f"The references of candidate {k} must be a non-empty list of "
                f"captions, but got {captions!r}."
            )
