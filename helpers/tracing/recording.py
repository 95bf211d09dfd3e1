"""Records the values of tensors over successive session runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, whole

# Arrays with more values are summarised in the table.
_SHOWN = 6


class Recording:
    """Values of some tensors over several steps.

    Attributes:
      names: Names of the tensors, in the requested order.
      steps: One dictionary per run, from names to NumPy arrays and scalars.
    """

    def __init__(self, names: list[str], steps: list[dict[str, Any]]):
        self.names = names
        self.steps = steps

    def __getitem__(self, name: str) -> np.ndarray:
        """Returns the values of one tensor over all steps: `[step, ...]`."""
        return np.array([step[name] for step in self.steps])

    def __len__(self) -> int:
        return len(self.steps)

    def table(self) -> str:
        """Formats the values as an aligned text table, one line per step."""
        rows = [["step", *self.names]]
        rows += [[str(number), *(_words(step[name]) for name in self.names)]
                 for number, step in enumerate(self.steps)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(map(str.rjust, row, widths)) for row in rows
        )


@numbers(steps=whole())
def record(
    session: tf1.Session, fetches: Any, steps: int, feed_dict: Mapping | None = None
) -> Recording:
    """Runs a session repeatedly and records the values of the fetches.

    Each step is one `session.run` of all fetches together, so the side effects of a
    step happen once. An op without a value, such as a training op, is run but not
    recorded. If a variable is fetched together with the op that updates it, its value
    may be from before or after the update, as in any `session.run`.

    Args:
      session: The session, or the runner of `running_queues`.
      fetches: A dictionary from your names to tensors or ops, a list of them, or a
        single one.
      steps: Number of runs, at least 1.
      feed_dict: Feeds, as for `session.run`, the same for every step.

    Returns:
      The `Recording`.

    Raises:
      ValueError: If `steps` is less than 1. Errors of a run propagate.
    """
    named = _named(fetches)
    seen = []
    for _ in range(steps):
        values = session.run(named, feed_dict)
        # A fetch may be a view of a variable's memory, which the next step changes.
        seen.append({name: np.copy(value)[()] for name, value in values.items()
                     if value is not None})
    return Recording(list(seen[0]), seen)


def _named(fetches: Any) -> dict[str, Any]:
    if isinstance(fetches, Mapping):
        return dict(fetches)
    if isinstance(fetches, str) or not isinstance(fetches, Sequence):
        fetches = [fetches]
    names = [getattr(fetch, "name", str(fetch)).removesuffix(":0") for fetch in fetches]
    return dict(zip(names, fetches, strict=True))


def _words(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind in "OS":
        array = np.char.decode(array.astype(bytes), "utf-8", "replace")
    if array.size > _SHOWN and array.dtype.kind in "iuf":
        return f"{list(array.shape)} from {array.min():.4g} to {array.max():.4g}"
    return np.array2string(array, threshold=_SHOWN, formatter={
        "float_kind": lambda number: f"{number:.4g}", "numpystr": str})
