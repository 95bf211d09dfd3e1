"""Compares two programs tensor by tensor, with equal and with their own weights."""

import dataclasses
import textwrap
from collections.abc import Mapping

import numpy as np

from helpers.arguments import numbers, real
from helpers.divergence import causes, matching
from helpers.divergence.programs import Program, Tensors, holding, program

_STAGES = {"same": "the same weights in both", "own": "their own weights"}


@dataclasses.dataclass
class Divergence:
    """Result of `first_difference`, which is true if any tensor differs.

    Attributes:
      name: Name of the first tensor that differs, in the old program, or `None` if all
        tensors are equal.
      stage: `"same"` if the tensor differs even with the same weights in both programs,
        so that the code is the cause. `"own"` if it differs only with their own
        weights.
      largest: Largest absolute difference of the tensor's values, or infinity if the
        shapes differ.
      relative: Largest difference divided by the largest absolute value of either
        tensor.
      causes: Likely causes. Those that the values or weights support come first.
      differences: Relative difference by stage and tensor, in the order of execution.
      only_in_one: Names that exist in only one of the programs.
      partners: Name of the matching old weight for each new weight that has one.
      alone: Weights of the new program without a match. They were filled with one
        constant, which hides a permutation.
      tolerance: Relative difference above which two tensors count as different.
    """

    name: str | None = None
    stage: str | None = None
    largest: float = 0.0
    relative: float = 0.0
    causes: list[str] = dataclasses.field(default_factory=list)
    differences: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    only_in_one: list[str] = dataclasses.field(default_factory=list)
    partners: dict[str, str] = dataclasses.field(default_factory=dict)
    alone: list[str] = dataclasses.field(default_factory=list)
    tolerance: float = 1e-5

    def __bool__(self) -> bool:
        return self.name is not None

    def __repr__(self) -> str:
        lines = [f"{_STAGES[stage]}: {_summary(differences, self.tolerance)}"
                 for stage, differences in self.differences.items()]
        if self:
            lines += [f"first difference: {self.name}, by {self.largest:.1g} "
                      f"({_percent(self.relative)} of the largest value)"]
        for cause in self.causes:
            lines += textwrap.wrap(cause, 74, initial_indent="  - ",
                                   subsequent_indent="    ")
        if self.alone:
            lines += textwrap.wrap(
                "no partner, so one constant, which hides a permutation: "
                + ", ".join(self.alone), 78)
        if self.only_in_one:
            lines += textwrap.wrap("not compared: " + ", ".join(self.only_in_one), 78)
        return "\n".join(lines)


@numbers(tolerance=real(0))
def first_difference(
    old: object,
    new: object,
    feeds: Mapping[str, np.ndarray],
    *,
    tolerance: float = 1e-5,
    rename: Mapping[str, str] | None = None,
) -> Divergence:
    """Finds the first tensor at which two programs differ, and likely causes.

    Both programs run twice on the same inputs. In the first run, they have the same
    weights, which shows differences in the code. In the second run, they have their own
    weights, which shows differences in the weights. Tensors with the same name are
    compared in the order in which the program runs them. In the end, all weights are
    restored.

    The common weights differ from position to position, so a transpose or a reordering
    of channels in the code becomes visible. For this purpose, weights are matched by
    shape and name.

    Source: the TensorFlow guide, "Validating correctness & numerical equivalence".

    Args:
      old: A tuple `(session, tensors)`, with the tensors as a list or as a dictionary
        by name; a Keras model, whose layers are compared; or a layer or `tf.Module`
        that returns its tensors by name.
      new: The other program, in one of the same forms.
      feeds: Arrays by input name. A single array fits any single input of layers and
        modules.
      tolerance: Tolerance as a share of the largest value of a tensor.
      rename: Old names by new weight name, for weights that cannot be matched by name
        and shape.

    Returns:
      A `Divergence`, which is true if any tensor differs.

    Raises:
      ValueError: If no tensor has the same name in both programs, or if a name in
        `rename` does not exist.
      TypeError: If a program has none of these forms.
    """
    old_program, new_program = program(old), program(new)
    walk = _Walk(old_program, new_program, dict(feeds), tolerance)
    ours, theirs = old_program.weights(), new_program.weights()
    if ours and theirs:
        pairs = matching.partners(ours, theirs, rename or {})
        walk.found.partners = pairs
        first, second = matching.same_numbers(ours, theirs, pairs)
        walk.found.alone = sorted(second.keys() - pairs.keys())
        with holding(old_program, first), holding(new_program, second):
            walk.run("same")
    walk.run("own")
    return walk.result()


class _Walk:
    """Comparison of the tensors of two programs in both stages."""

    def __init__(self, old: Program, new: Program, feeds, tolerance: float):
        self._old, self._new, self._feeds = old, new, feeds
        self._tolerance = tolerance
        self._tensors: dict[str, tuple[Tensors, Tensors]] = {}
        self._order: list[str] = []
        self._random: list[str] = []
        self.found = Divergence(tolerance=tolerance)

    def run(self, stage: str) -> None:
        """Runs both programs with their current weights and records the differences."""
        old, new = self._old.run(self._feeds), self._new.run(self._feeds)
        again = self._new.run(self._feeds)
        self._order = [name for name in old if name in new]
        if not self._order:
            raise ValueError(
                "The programs have no tensor names in common: the old one has "
                f"{sorted(old)}, and the new one {sorted(new)}. Use the same keys in "
                "both dictionaries."
            )
        self._tensors[stage] = old, new
        self._random = [n for n in self._order if distance(new[n], again[n])[1] > 0]
        self.found.only_in_one = sorted(set(old) ^ set(new))
        self.found.differences[stage] = {
            name: distance(old[name], new[name])[1] for name in self._order}

    def result(self) -> Divergence:
        firsts = {stage: _first(differences, self._tolerance)
                  for stage, differences in self.found.differences.items()}
        reached = {stage: name for stage, name in firsts.items() if name}
        if reached:
            stage = min(reached, key=lambda s: self._order.index(reached[s]))
            self._explain(stage, reached)
        return self.found

    def _explain(self, stage: str, reached: dict[str, str]) -> None:
        name, result = reached[stage], self.found
        old, new = (tensors[name] for tensors in self._tensors[stage])
        result.name, result.stage = name, stage
        result.largest, result.relative = distance(old, new)
        if name in self._random:
            result.causes.append("another answer at each call: dropout left on, or "
                                 "random pictures")
        for at, tensors in reversed(self._tensors.items()):
            if result.differences[at][name] <= self._tolerance:
                continue  # the rest is rounding
            for cause in causes.of_values(*(each[name] for each in tensors)):
                result.causes += [cause] if cause not in result.causes else []
        if stage == "same":
            result.causes += [causes.HIDDEN] * ("own" not in reached)
            result.causes.append(causes.OF_CODE)
        else:
            result.causes += causes.of_weights(self._old.weights(), self._new.weights(),
                                               result.partners, name)
            result.causes.append(causes.OF_WEIGHTS)


def distance(old: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """Returns the largest absolute difference and the largest relative one."""
    if np.shape(old) != np.shape(new):
        return np.inf, np.inf
    if not np.size(old):
        return 0.0, 0.0
    old, new = np.asarray(old, float), np.asarray(new, float)
    same = (old == new) | (np.isnan(old) & np.isnan(new))
    if same.all():
        return 0.0, 0.0
    if not (np.isfinite(old) & np.isfinite(new) | same).all():
        return np.inf, np.inf
    largest = float(np.abs(np.where(same, 0, old - new)).max())
    return largest, largest / float(max(np.abs(old).max(), np.abs(new).max()))


def _first(found: dict[str, float], tolerance: float) -> str | None:
    return next((name for name, far in found.items() if far > tolerance), None)


def _percent(share: float) -> str:
    """Formats a share as a percentage with digits that any processor reproduces."""
    return f"{share:.0%}" if share >= 0.01 else f"{100 * share:.1g}%"


def _summary(found: dict[str, float], tolerance: float) -> str:
    name = _first(found, tolerance)
    if name is None:
        return f"{len(found)} tensors equal"
    return f"{list(found).index(name)} of {len(found)} tensors equal, then {name}"
