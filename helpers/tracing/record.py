"""The session's own film: the values of chosen tensors over successive runs."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf1
from IPython.display import HTML, display

from helpers.arguments import numbers, whole
from helpers.slider import embedded, slider_page

# More numbers than these are summed up in a cell of the table.
_SHOWN = 6


class Recording:
    """What `record` saw: one row per step, one column per tensor.

    Attributes:
      names: of the tensors, in the order asked for.
      steps: one dictionary per run, name to value: arrays and scalars of NumPy.
    """

    def __init__(self, names: list[str], steps: list[dict[str, Any]]):
        self.names = names
        self.steps = steps

    def __getitem__(self, name: str) -> np.ndarray:
        """Returns one tensor's values over all steps: `[step, ...]`."""
        return np.array([step[name] for step in self.steps])

    def __len__(self) -> int:
        return len(self.steps)

    def table(self) -> str:
        """Returns the values as aligned text, one line per step, steps from 0."""
        rows = [["step", *self.names]]
        rows += [[str(number), *(_words(step[name]) for name in self.names)]
                 for number, step in enumerate(self.steps)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(map(str.rjust, row, widths)) for row in rows
        )

    def page(self, alt: str) -> str:
        """Returns the film as one HTML document with a slider over the steps.

        Args:
          alt: one sentence: what a reader who cannot see the film should know.
        """
        frames = [self._frame(number) for number in range(len(self))]
        labels = [self._label(number) for number in range(len(self))]
        return slider_page(frames, labels, title="step", alt=alt)

    def show(self, alt: str) -> None:
        """Shows the film in a notebook and prints its sentence.

        It needs no kernel and asks nothing of any machine. Where scripts may not
        run, the table stands in its place.

        Args:
          alt: one sentence: what a reader who cannot see the film should know.
        """
        still = f"<pre>{html.escape(self.table())}</pre>"
        height = 190 + 30 * len(self.names)
        page = embedded(self.page(alt), still=still, alt=alt, height=height)
        display(HTML(page))
        print(f"Film: {alt}")

    def _frame(self, number: int) -> str:
        heads = ("tensor", "value", "against the step before")
        rows = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
        for name in self.names:
            value = html.escape(_words(self.steps[number][name]))
            rows.append(f"<tr><th>{html.escape(name)}</th><td>{value}</td>"
                        f"<td>{self._change(number, name)}</td></tr>")
        return "<table>" + "".join(rows) + "</table>"

    def _change(self, number: int, name: str) -> str:
        if not number:
            return "first"
        now, before = self.steps[number][name], self.steps[number - 1][name]
        return "the same" if _equal(now, before) else "changed"

    def _label(self, number: int) -> str:
        bad = [name for name in self.names if not _finite(self.steps[number][name])]
        label = f"step {number} of 0 to {len(self) - 1}"
        return f"{label}: not finite in {', '.join(bad)}" if bad else label


@numbers(steps=whole())
def record(
    session: tf1.Session, fetches: Any, steps: int, feed_dict: Mapping | None = None
) -> Recording:
    """Runs a session a number of times and keeps the values of chosen tensors.

    Each step is one `session.run` of all fetches together, so a step with side
    effects has them, once per step. An op without a value (a training op) is run and
    not recorded. A variable that is fetched beside the op that moves it may be from
    before or after the move, as in any `session.run`.

    Args:
      session: the session; the runner of `running_queues` does as well.
      fetches: a dictionary from your names to tensors or ops, a list of them, or one.
      steps: how many runs, at least 1.
      feed_dict: as for `session.run`, the same for every step.

    Returns:
      The `Recording`.

    Raises:
      ValueError: `steps` is less than 1. An error of a run passes through.
    """
    named = _named(fetches)
    seen = []
    for _ in range(steps):
        values = session.run(named, feed_dict)
        # A fetch may be a view of a variable's memory: the next step would change it.
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


def _finite(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def _equal(now: Any, before: Any) -> bool:
    kind = np.asarray(now).dtype.kind
    return np.array_equal(now, before, equal_nan=kind in "fc")


def _words(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind in "OS":
        array = np.char.decode(array.astype(bytes), "utf-8", "replace")
    if array.size > _SHOWN and array.dtype.kind in "iuf":
        return f"{list(array.shape)} from {array.min():.4g} to {array.max():.4g}"
    return np.array2string(array, threshold=_SHOWN, formatter={
        "float_kind": lambda number: f"{number:.4g}", "numpystr": str})
