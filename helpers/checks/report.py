"""What every exercise check returns: ticks, crosses and hints."""

import functools
import textwrap
from collections.abc import Callable, Iterator

from helpers.errors import first_line

# One claim of a check: what should hold, whether it does, what to try if not.
Claim = tuple[str, bool, str]


class Report:
    """The answer to an attempt; truthy only when every claim holds.

    Attributes:
      title: the exercise.
      claims: the claims reached, in order; only the last can be false.
      start: the hint for a stub that nobody has touched yet.
    """

    def __init__(self, title: str, start: str):
        self.title = title
        self.start = start
        self.claims: list[Claim] = []

    def __bool__(self) -> bool:
        return bool(self.claims) and all(holds for _, holds, _ in self.claims)

    def __repr__(self) -> str:
        lines = [self.title]
        for text, holds, hint in self.claims:
            lines.append(f"  [{'✓' if holds else '✗'}] {text}")
            if not holds:
                lines += textwrap.wrap(hint, 76, initial_indent=" " * 6,
                                       subsequent_indent=" " * 6)
        if self:
            lines.append("All of it holds. Well done.")
        elif len(self.claims) == 1:
            lines += textwrap.wrap(f"Start here: {self.start}", 76)
        return "\n".join(lines)


def exercise(title: str, start: str) -> Callable:
    """Turns a generator of claims into a check that returns a `Report`.

    The generator yields `(claim, holds, hint)`. The check stops at the first claim
    that does not hold, because the later ones rest on it. An error in the attempt
    becomes a cross with one line, never a traceback.

    Args:
      title: for example `"Exercise 1: counted"`.
      start: where to begin; shown to a reader who has not begun.

    Returns:
      The decorator.
    """

    def decorate(claims: Callable[..., Iterator[Claim]]) -> Callable[..., Report]:
        @functools.wraps(claims)
        def check(*attempt, **options) -> Report:
            report = Report(title, start)
            try:
                for text, holds, hint in claims(*attempt, **options):
                    report.claims.append((text, bool(holds), hint))
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
