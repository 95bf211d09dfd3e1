"""What every exercise check returns: ticks, crosses, and hints one step at a time."""

import dis
import functools
import textwrap
from collections.abc import Callable, Iterator

from helpers.errors import first_line

# One claim of a check: what should hold, whether it does, what is wrong if not.
Claim = tuple[str, bool, str]


class Report:
    """The answer to an attempt; truthy only when every claim holds.

    Attributes:
      title: the exercise.
      claims: the claims reached, in order; only the last can be false. None are
        reached by a stub that nobody has touched.
      hints: how many of `steps` the reader has asked for.
      steps: what helps further, the smallest help first.
    """

    def __init__(self, title: str, steps: tuple[str, ...] = (), hints: int = 0):
        self.title = title
        self.steps = steps
        self.hints = hints
        self.claims: list[Claim] = []

    def __bool__(self) -> bool:
        return bool(self.claims) and all(holds for _, holds, _ in self.claims)

    def __repr__(self) -> str:
        if not self.claims:
            return f"{self.title}\n  [ ] not tried yet"
        lines = [self.title]
        for text, holds, wrong in self.claims:
            lines.append(f"  [{'✓' if holds else '✗'}] {text}")
            if not holds:
                lines += textwrap.wrap(wrong, 76, initial_indent=" " * 6,
                                       subsequent_indent=" " * 6)
        return "\n".join(lines + self._last_lines())

    def _last_lines(self) -> list[str]:
        if self:
            return ["All of it holds. Well done."]
        lines = []
        for number, step in enumerate(self.steps[: self.hints], 1):
            lines += textwrap.wrap(f"Hint {number}: {step}", 76)
        if self.hints < len(self.steps):
            lines.append(f"To get a hint, give the check hints={self.hints + 1}.")
        return lines


def exercise(title: str, *steps: str) -> Callable:
    """Turns a generator of claims into a check that returns a `Report`.

    The generator yields `(claim, holds, what_is_wrong)`. The check stops at the first
    claim that does not hold, because the later ones rest on it. An error in the
    attempt becomes a cross with one line, never a traceback.

    Args:
      title: for example `"Exercise 1: counted"`.
      *steps: help for one who has tried and is stuck, in the order in which
        `check(attempt, hints=n)` gives it: where to look, then the first line.

    Returns:
      The decorator.
    """

    def decorate(claims: Callable[..., Iterator[Claim]]) -> Callable[..., Report]:
        @functools.wraps(claims)
        def check(*attempt, hints: int = 0, **options) -> Report:
            report = Report(title, steps, hints)
            if attempt and is_untouched(attempt[0]):
                return report
            try:
                for text, holds, wrong in claims(*attempt, **options):
                    report.claims.append((text, bool(holds), wrong))
                    if not holds:
                        break
            except Exception as error:
                report.claims.append(
                    ("runs without an error", False,
                     f"{type(error).__name__}: {first_line(error)}")
                )
            return report

        return check

    return decorate


def is_untouched(attempt: object) -> bool:
    """Returns whether an attempt is still the stub: a function or class of `pass`.

    Args:
      attempt: what the reader's cell defined.
    """
    if isinstance(attempt, type):
        own = vars(attempt).values()
        return not any(callable(value) for value in own)
    code = getattr(attempt, "__code__", None)
    if code is None:
        return False
    loads_none = [("LOAD_CONST", None), ("RETURN_CONST", None)]  # the latter in 3.12
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code)
             if step.opname not in ("RESUME", "NOP", "RETURN_VALUE")]
    return len(steps) == 1 and steps[0] in loads_none
