"""Likely causes of a difference, inferred from the values and the weights."""

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

OF_CODE = (
    "common in code: padding, an epsilon, an activation, a transpose before Flatten, "
    "channels reversed, dropout, how a picture is resized"
)
OF_WEIGHTS = (
    "common in weights: a kernel transposed, gates in another order, statistics not "
    "restored, averages in place of raw weights"
)
HIDDEN = (
    "equal with their own weights: a weight is 0 or 1 now, or holds what the other "
    "program adds or reorders at run time; or the wrong weights were matched (see "
    "`partners`)"
)
_LARGEST_RECURRENT = 4_000_000  # largest kernel whose gates are permuted


def of_values(old: np.ndarray, new: np.ndarray) -> list[str]:
    """Returns the likely causes of the difference between two tensors.

    The list is empty if the tensors are equal.

    Args:
      old: Tensor of the old program, of any shape.
      new: Tensor of the new program.
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


def of_weights(
    old: Mapping[str, np.ndarray], new: Mapping[str, np.ndarray],
    pairs: Mapping[str, str], near: str,
) -> list[str]:
    """Returns up to three recognisable faults in the weights of the new program.

    Args:
      old: Weights of the old program by name.
      new: Weights of the new program by name.
      pairs: Name of the matching old weight for each weight of the new program that has
        one.
      near: Name of the tensor that differs. Weights whose names contain it come first.
    """
    lines = [(near not in name, f"{name}: {fault}") for name, other in pairs.items()
             if (fault := _of_weight(new[name], old[other], other))]
    return [line for _, line in sorted(lines)][:3]


def _of_weight(weight: np.ndarray, old: np.ndarray, name: str) -> str:
    """Describes how a weight differs from its old counterpart; "" if it does not."""
    if _equal(old, weight):
        return ""
    for order in itertools.permutations(range(old.ndim)):
        if _equal(old.transpose(order), weight):
            return f"{name} transposed by {order}"
    if count := _blocks(old, weight):
        return f"{name} with its {count} gates in another order"
    if np.ptp(weight) == 0:
        return "constant, as in a new model, so it was never restored"
    if np.ptp(old) > 0 and np.corrcoef(old.ravel(), weight.ravel())[0, 1] > 0.9:
        return f"near {name}, not equal: averages against raw weights, or a step"
    return f"not {name}"


def _blocks(old: np.ndarray, weight: np.ndarray) -> int:
    """Returns the number of column blocks that were reordered, or 0 if none were."""
    for count in (2, 3, 4):
        if old.shape[-1] % count == 0 and old.size <= _LARGEST_RECURRENT:
            blocks = np.split(old, count, -1)
            if any(_equal(np.concatenate(order, -1), weight)
                   for order in itertools.permutations(blocks)):
                return count
    return 0


def _equal(one, other) -> bool:
    return one.shape == other.shape and np.allclose(one, other, 1e-4, 1e-6)


def _scaled(old, new) -> bool:
    """Returns whether one tensor is a multiple of the other, with a factor not 1."""
    if old.size < 3 or not np.dot(old, old):
        return False
    ratio = np.dot(new, old) / np.dot(old, old)
    largest = np.abs(new).max()
    return abs(ratio - 1) > 1e-6 and np.abs(new - ratio * old).max() < 2e-6 * largest


def _affine(old, new) -> bool:
    """Returns whether each channel is an affine function of the same old channel."""
    old, new = (t.reshape(-1, t.shape[-1]) for t in (old, new))
    mean_old, mean_new = old.mean(0), new.mean(0)
    spread = ((old - mean_old) ** 2).sum(0)
    if not (spread > 0).all():
        return False
    slope = ((old - mean_old) * (new - mean_new)).sum(0) / spread
    rest = new - mean_new - slope * (old - mean_old)
    return np.abs(rest).max() < 1e-4 * np.abs(new).max()
