"""The usual causes of a difference: tried on the values, then on the weights."""

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

OF_CODE = (
    "usual in code: padding, an epsilon, an activation, dropout, how a picture is "
    "resized, something added at run time that the other holds in a weight"
)
OF_WEIGHTS = (
    "usual in weights: a kernel transposed, gates in another order, statistics not "
    "restored, averages in place of raw weights"
)
_LARGEST_RECURRENT = 4_000_000  # numbers in a kernel whose gates are tried


def of_values(old: np.ndarray, new: np.ndarray) -> list[str]:
    """Returns what would turn one tensor into the other, most telling first.

    Args:
      old: the tensor in the old program, of any shape.
      new: the same in the new one.
    """
    if np.array_equal(old, new):
        return []
    if old.shape != new.shape:
        return ["the shapes differ: padding, stride, or an axis that one of them drops"]
    old, new = old.astype(float), new.astype(float)
    if not np.isfinite(new).all():
        return ["not a number in one of them: a logarithm or a root of 0, or an "
                "overflow"]
    return list(_of_offsets(old, new))


def _of_offsets(old, new) -> Iterator[str]:
    offset = (new - old).reshape(-1, old.shape[-1] if old.ndim else 1)
    if np.ptp(offset) < 1e-5 * (1 + np.abs(offset).max()):
        yield f"everything is {offset[0, 0]:+.4g}: a label shift, or a mean taken away"
    elif len(offset) > 1 and np.ptp(offset, 0).max() < 1e-4 * np.abs(offset).max():
        yield "each channel is off by a constant: a wrong bias, beta or moving mean"
    elif _scaled(old.ravel(), new.ravel()):
        ratio = np.dot(new.ravel(), old.ravel()) / np.dot(old.ravel(), old.ravel())
        yield (f"everything is times {ratio:.5g}: a scale of the input, dropout's "
               "1/keep, or an epsilon")
    elif len(offset) > 2 and _affine(old, new):
        yield ("each channel is scaled and moved: batch norm's statistics, gamma, or "
               "its epsilon")


def of_weights(old: Mapping, new: Mapping, near: str) -> list[str]:
    """Returns what is wrong with the weights of the new program, if it can be seen.

    Args:
      old: weights by name.
      new: the same of the new program.
      near: the tensor that differs; its own weights come first.
    """
    lines = [(near not in name, f"{name}: {found}") for name, weight in new.items()
             if old and weight.ndim and weight.dtype.kind == "f"
             and (found := _of_weight(weight, old))]
    return [line for _, line in sorted(lines)][:3]


def _of_weight(weight: np.ndarray, old: Mapping[str, np.ndarray]) -> str:
    """Says how a weight came about from those of the old program; "" if it is one."""
    matching = {n: w for n, w in old.items() if w.size >= weight.size and w.ndim}
    if any(_is_part(weight, w) for w in matching.values()):
        return ""
    for name, value in matching.items():
        for order in itertools.permutations(range(value.ndim)):
            if (value.ndim == weight.ndim and value.transpose(order).shape
                    == weight.shape and _equal(value.transpose(order), weight)):
                return f"{name} transposed by {order}"
    for name, value in matching.items():
        if found := _gates(value, weight):
            return f"{name} with its {found} gates in another order"
    if np.ptp(weight) == 0:
        return "constant, as a new model has it: never restored"
    same = [(n, w) for n, w in matching.items()
            if w.shape == weight.shape and np.ptp(w) > 0]
    for name, value in same:
        if np.corrcoef(value.ravel(), weight.ravel())[0, 1] > 0.9:
            return f"near {name}, not equal: averages against raw weights, or a step"
    return "equal to no old weight"


def _is_part(weight, whole) -> bool:
    """Whether a weight is another, or rows of it, as in a kernel that was cut."""
    if weight.ndim != whole.ndim or weight.shape[1:] != whole.shape[1:]:
        return False
    rows = (0, len(whole) - len(weight))
    return any(_equal(whole[row:row + len(weight)], weight) for row in rows)


def _gates(whole, weight) -> int:
    """Returns how many blocks of columns were exchanged, 0 if that is not it."""
    if weight.ndim != whole.ndim or weight.shape[-1] != whole.shape[-1]:
        return 0
    if whole.size > _LARGEST_RECURRENT:
        return 0
    for count in (2, 3, 4):
        if weight.shape[-1] % count:
            continue
        blocks = np.split(whole, count, -1)
        for order in itertools.permutations(blocks):
            if _is_part(weight, np.concatenate(order, -1)):
                return count
    return 0


def _equal(one, other) -> bool:
    return one.shape == other.shape and np.allclose(one, other, 1e-4, 1e-6)


def _scaled(old, new) -> bool:
    """Whether one is the other times a constant that is not 1."""
    if old.size < 3 or not np.dot(old, old):
        return False
    ratio = np.dot(new, old) / np.dot(old, old)
    largest = np.abs(new).max()
    return abs(ratio - 1) > 1e-6 and np.abs(new - ratio * old).max() < 2e-6 * largest


def _affine(old, new) -> bool:
    """Whether each channel of one is a straight line of the other's."""
    old, new = (t.reshape(-1, t.shape[-1]) for t in (old, new))
    mean_old, mean_new = old.mean(0), new.mean(0)
    spread = ((old - mean_old) ** 2).sum(0)
    if not (spread > 0).all():
        return False
    slope = ((old - mean_old) * (new - mean_new)).sum(0) / spread
    rest = new - mean_new - slope * (old - mean_old)
    return np.abs(rest).max() < 1e-4 * np.abs(new).max()
