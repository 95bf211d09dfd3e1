"""Matches the weights of two programs, and creates values to test both with."""

import re
from collections.abc import Mapping

import numpy as np

Weights = Mapping[str, np.ndarray]
_SAME_WORD = {"weights": "kernel", "weight": "kernel", "biases": "bias"}


def partners(old: Weights, new: Weights, rename: Mapping[str, str]) -> dict[str, str]:
    """Maps each weight of the new program to its counterpart in the old one.

    Two weights match only if they have the same shape. Among several candidates, those
    with more words in common win, then those with equal values, then those with the
    closest position in the program. If a layer stores one of its weights in a different
    shape, for example a kernel that was cut in two, none of its weights is matched,
    because their order may differ too.

    Args:
      old: Weights of the old program by name.
      new: Weights of the new program by name.
      rename: Known matches, from new names to old names.

    Raises:
      ValueError: If a name in `rename` is not the name of a float weight.
    """
    old, new = _floats(old), _floats(new)
    unknown = sorted(rename.keys() - new.keys() | set(rename.values()) - old.keys())
    if unknown:
        raise ValueError(
            f"Unknown weight {unknown[0]} in `rename`. Its keys must be weights of the "
            f"new program {sorted(new)}, and its values weights of the old program "
            f"{sorted(old)}."
        )
    pairs = [
        ((-_words_in_common(name, other), not np.array_equal(new[name], old[other]),
          abs(place - other_place)), name, other)
        for place, name in enumerate(new) for other_place, other in enumerate(old)
        if new[name].shape == old[other].shape and rename.get(name, other) == other
    ]
    matches: dict[str, str] = {}
    for _, name, other in sorted(pairs):
        if name not in matches and other not in matches.values():
            matches[name] = other
    cut = {_layer(name) for name in new if name not in matches}
    return {name: matches[name] for name in new if _layer(name) not in cut}


def same_numbers(
    old: Weights, new: Weights, pairs: Mapping[str, str]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Returns random weights for both programs that agree for matched weights.

    All values are positive and of a typical size. Matched weights have different values
    at each position, so that a permutation becomes visible. All other weights are
    filled with one constant.

    Args:
      old: Weights of the old program by name.
      new: Weights of the new program by name.
      pairs: Matches, as returned by `partners`.
    """
    old, new = _floats(old), _floats(new)
    kernels = [weight.size for weight in old.values() if weight.ndim > 1]
    usual = np.clip(1 / np.sqrt(np.median(kernels or [100])), 1e-3, 0.3)
    ours = {name: np.full_like(weight, usual) for name, weight in old.items()}
    theirs = {name: np.full_like(weight, usual) for name, weight in new.items()}
    random = np.random.default_rng(7)
    for new_name, old_name in pairs.items():
        drawn = usual * random.uniform(0.5, 1.5, old[old_name].shape)
        ours[old_name] = drawn.astype(old[old_name].dtype)
        theirs[new_name] = drawn.astype(new[new_name].dtype)
    return ours, theirs


def _floats(weights: Weights) -> dict[str, np.ndarray]:
    return {n: w for n, w in weights.items() if np.issubdtype(w.dtype, np.floating)}


def _words_in_common(one: str, other: str) -> int:
    one_words, other_words = (
        {_SAME_WORD.get(word, word) for word in re.findall(r"[a-z]+|\d+", name.lower())}
        for name in (one.split(":")[0], other.split(":")[0]))
    return len(one_words & other_words)


def _layer(name: str) -> str:
    """Returns the scope of a weight's name, or the name if it has no scope."""
    return name.rpartition("/")[0] or name
