"""BLEU against a second program and by hand; exact share and perplexity."""

import math

import pytest
from nltk.translate.bleu_score import corpus_bleu

from helpers import captions as cap


def test_bleu_equals_nltk_and_values_by_hand():
    references = [
        ["a red circle above a blue star", "a blue star below a red circle"],
        ["a cat on the mat", "there is a cat on the mat", "a cat sits"],
        ["two dogs run in the green park"],
    ]
    candidates = [
        "a red circle above a blue square", "a cat on on the mat",
        "two dogs run in a park",
    ]
    split = [[text.split() for text in texts] for texts in references]
    words = [text.split() for text in candidates]
    for order, score in enumerate(cap.bleu(references, candidates), start=1):
        weights = [1 / order] * order
        assert score == pytest.approx(corpus_bleu(split, words, weights), rel=1e-6)
    # Papineni's own example: "the" counts twice at most, 2 of 7.
    clipped = cap.bleu([["the cat is on the mat"]], ["the the the the the the the"])
    assert clipped[0] == pytest.approx(2 / 7)
    # 3 of 3 words, brevity exp(1 - 6/3).
    short = cap.bleu([["the cat is on the mat"]], ["the cat is"])
    assert short[0] == pytest.approx(math.exp(1 - 6 / 3))
    perfect = cap.bleu(references, [texts[0] for texts in references])
    assert perfect == pytest.approx([1.0] * 4)


def test_exact_share_and_perplexity_by_hand():
    assert cap.exact_share([["a b", "c"], ["d"], ["e"]], ["c", "d", "f"]) == 2 / 3
    assert cap.perplexity(10 * math.log(7), 10) == pytest.approx(7)
    assert cap.perplexity(710 * 3, 3) == math.inf
    with pytest.raises(ValueError, match="word_count must be"):
        cap.perplexity(0, 0)
    with pytest.raises(ValueError, match="0 candidates"):
        cap.bleu([], [])
    with pytest.raises(ValueError, match="candidate 0"):
        cap.exact_share(["a b"], ["a b"])
