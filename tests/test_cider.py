"""CIDEr-D against the formulas of the paper, read a second time."""

import numpy as np

from helpers.cider import cider_d


def grams(sentence, n):
    words = sentence.split()
    return [" ".join(words[k:k + n]) for k in range(len(words) - n + 1)]


def by_the_paper(references, candidates):
    """Dense vectors over all n-grams that occur, one matrix per n; equations 1 to 4."""
    everything = [s for group in references for s in group] + candidates
    whole = {s: sum(len(grams(s, n)) for n in (1, 2, 3, 4)) for s in everything}
    scores = np.zeros(len(candidates))
    for n in (1, 2, 3, 4):
        omega = sorted({g for s in everything for g in grams(s, n)})
        frequency = np.array([
            sum(any(g in grams(s, n) for s in group) for group in references)
            for g in omega
        ])
        idf = np.log(len(references) / np.maximum(frequency, 1))

        def vector(sentence, n=n, omega=omega, idf=idf):
            h = np.array([grams(sentence, n).count(g) for g in omega], float)
            return h * idf / max(whole[sentence], 1)

        for k, candidate in enumerate(candidates):
            c, group = vector(candidate), references[k]
            for reference in group:
                s = vector(reference)
                length = np.linalg.norm(c) * np.linalg.norm(s)
                if length == 0:
                    continue
                apart = len(candidate.split()) - len(reference.split())
                penalty = np.exp(-(apart**2) / (2 * 6.0**2))
                scores[k] += (
                    10 / len(group) / 4 * penalty * (np.minimum(c, s) @ s) / length
                )
    return scores


def test_equals_it_on_random_sentences():
    rng = np.random.default_rng(12)
    words = np.array(list("abcdefgh"))

    def sentence():
        return " ".join(rng.choice(words, rng.integers(0, 9)))

    references = [[sentence() for _ in range(rng.integers(1, 4))] for _ in range(20)]
    candidates = [sentence() for _ in references]
    np.testing.assert_allclose(
        cider_d(references, candidates), by_the_paper(references, candidates),
        atol=1e-12,
    )


def test_a_copy_of_the_only_reference_gets_ten():
    references = [["a b c d e"], ["f g h i j"], ["k l m n o"]]
    scores = cider_d(references, [group[0] for group in references])
    np.testing.assert_allclose(scores, 10)


def test_what_every_picture_has_is_worth_nothing():
    references = [["a dog"], ["a cat"], ["a bird"]]
    assert cider_d(references, ["a", "a", "a"]).tolist() == [0, 0, 0]
    assert cider_d([["a dog"]], ["a dog"]).tolist() == [0]
