"""Framework of the exercise checks: random cases, claims, and reports with hints.

A check is a generator of claims about random cases, small ones first. It stops at the
first claim that does not hold, so the reported case is the smallest one that fails. A
second round follows, with the same attempt and other cases of the same sizes: a
function that remembers the first round, or that works only once, fails there. Side
effects of every attempt are recorded; see `helpers.checks.attempts`.
"""

import contextlib
import dis
import functools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from helpers.checks.attempts import Watch
from helpers.errors import first_line

# A claim consists of its text, whether it holds, and what is wrong if it does not.
Claim = tuple[str, bool, str]
MOST = 800  # characters of the description of a failure


class Report:
    """Result of an exercise check, which is true only if every claim holds.

    Attributes:
      title: Title of the exercise.
      claims: Claims that were reached, in order. Only the last one can be false. An
        unchanged stub reaches none.
      hints: Number of hints that the reader has requested.
      steps: All hints, from the smallest help to the largest.
      about: Hints that come before all others if the claim that is their key fails.
      broken: Description of an error in the check itself, or "".
    """

    def __init__(self, title: str, steps: tuple[str, ...] = (), hints: int = 0,
                 about: Mapping[str, str] | None = None):
        self.title = title
        self.steps = steps
        self.hints = hints
        self.about = dict(about or {})
        self.claims: list[Claim] = []
        self.broken = ""

    def add(self, text: str, holds: object, wrong: str) -> None:
        """Adds a claim, and shortens the description of its failure."""
        self.claims.append((text, bool(holds), shortened(wrong)))

    def __bool__(self) -> bool:
        return (bool(self.claims) and not self.broken
                and all(holds for _, holds, _ in self.claims))

    def __repr__(self) -> str:
        if self.broken:
            said = f"  [?] the check itself failed, not your answer: {self.broken}"
            return "\n".join([self.title, said, *self._last_lines()])
        if not self.claims:
            return f"{self.title}\n  [ ] not tried yet"
        lines = [self.title]
        held = [text for text, holds, _ in self.claims if holds]
        failed = [(text, wrong) for text, holds, wrong in self.claims if not holds]
        for text in dict.fromkeys(held):
            cases = f" ({held.count(text)} cases)" if held.count(text) > 1 else ""
            if text not in dict(failed):
                lines.append(f"  [✓] {text}{cases}")
        for text, wrong in failed:
            before = f" (not in case {held.count(text) + 1})" if text in held else ""
            lines.append(f"  [✗] {text}{before}")
            lines += textwrap.wrap(wrong, 76, initial_indent=" " * 6,
                                   subsequent_indent=" " * 6)
        return "\n".join(lines + self._last_lines())

    def _last_lines(self) -> list[str]:
        if self:
            return ["All of it holds. Well done."]
        failed = [self.about[text] for text, holds, _ in self.claims
                  if not holds and text in self.about]
        hints = [*failed, *self.steps]
        lines = []
        for number, hint in enumerate(hints[: self.hints], 1):
            lines += textwrap.wrap(f"Hint {number}: {hint}", 76)
        if self.hints < len(hints):
            what = "the next hint" if self.hints else "a hint"
            lines.append(f"For {what}, pass hints={self.hints + 1} to the check.")
        return lines


def exercise(title: str, *steps: str, about: Mapping[str, str] | None = None,
             adds: Iterable[str] = (), twice: bool = True, unknown: bool = True,
             is_class: bool = False) -> Callable:
    """Returns a decorator that turns a generator of claims into a check.

    The generator yields `(claim, holds, what_is_wrong)`, with the same claim text for
    each case. The check stops at the first claim that does not hold. An error in the
    answer becomes a cross with one line, never a traceback. An error in the check's own
    code is reported as such.

    Args:
      title: Title, such as `"Exercise 1: counted"`.
      *steps: Hints for readers who are stuck. `check(attempt, hints=n)` prints the
        first `n` of them: first where to look, then the first line of a solution.
      about: Hint for the failure of one claim, by the text of the claim. If this claim
        fails, its hint comes first.
      adds: Graph collections to which an answer may add. If they include variables, the
        earlier call of round two has its own variable scope.
      twice: Whether the function is called in the same graph before, in round two.
      unknown: Whether the first dimension of each tensor is unknown in round two.
      is_class: Whether the answer is a class. The calls of a class are not recorded.

    Returns:
      The decorator.
    """

    def decorate(claims: Callable[..., Iterator[Claim]]) -> Callable[..., Report]:
        @functools.wraps(claims)
        def check(attempt, hints: int = 0) -> Report:
            report = Report(title, steps, hints, about)
            if is_untouched(attempt):
                return report
            if isinstance(attempt, type) != is_class or not callable(attempt):
                due = "class" if is_class else "function"
                report.add(f"is a {due}", False, f"it is {attempt!r:.80}")
                return report
            watch = Watch(adds, twice, unknown)
            tried = attempt if is_class else watch.over(answering()(attempt))
            for Watch.second in (False, True):
                _follow(report, claims(tried), watch)
                if not report:
                    break
            Watch.second = False
            return report

        return check

    return decorate


def _follow(report: Report, claims: Iterator[Claim], watch: Watch) -> None:
    """Adds claims to a report up to the first that does not hold."""
    try:
        for text, holds, wrong in claims:
            watch.look()
            if watch.changed:
                break
            report.add(text, holds, _also(wrong, watch.unusual))
            if not holds:
                return
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # an answer may define its own
        # A generator converts the StopIteration of an answer to a RuntimeError.
        cause = error.__cause__
        own = cause if isinstance(cause, StopIteration) else error
        about = getattr(own, "about_answer", None)
        said = ": ".join(filter(None, [_name(type(own)), _words(own)]))
        if about is not None:
            report.add("runs without an error", False,
                       _also(about + said, watch.unusual))
            return
        if not watch.changed:
            report.broken = shortened(said)
    if watch.changed:
        report.add("changes nothing else", False, watch.changed)


def _also(wrong: str, unusual: Iterable[str]) -> str:
    return " ".join([wrong, *(f"({said})" for said in sorted(unusual))])


def _name(kind: type) -> str:
    """Returns the name of an error type, with its module if it is just `error`."""
    return f"{kind.__module__}.error" if kind.__name__ == "error" else kind.__name__


def _words(error: BaseException) -> str:
    try:
        return first_line(error)
    except BaseException:
        return "an error without a readable message"


@contextlib.contextmanager
def answering(case: str = "") -> Iterator[None]:
    """Context manager that attributes errors to the answer and names the case."""
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        if not getattr(error, "about_answer", ""):  # the innermost case is the best
            setattr(error, "about_answer", f"{case}: " if case else "")  # noqa: B010
        raise


def drawn(
    make: Callable[[np.random.Generator, int], Any], how_many: int = 20
) -> Iterator[Any]:
    """Yields random cases of increasing size from `make(rng, size)`.

    Each case has its own random generator, so a single case can be reproduced. The
    second round uses another seed.

    Args:
      make: Function that draws one case. A larger size should give a larger case.
      how_many: Number of cases per round.
    """
    for size in range(how_many):
        yield make(np.random.default_rng([7 + Watch.second, size]), size)


def close(found: object, due: object, rtol: float = 1e-5, atol: float = 1e-6) -> bool:
    """Returns whether two results have equal shapes and equal values up to rounding.

    Args:
      found: Result of an answer. A result that is not numeric is never close.
      due: Expected numbers of any shape, or a list of arrays. Nothing is broadcast.
      rtol: Tolerance relative to `due`.
      atol: Absolute tolerance.
    """
    if isinstance(due, list | tuple):
        return (isinstance(found, list | tuple | np.ndarray) and len(found) == len(due)
                and all(close(one, other, rtol, atol)
                        for one, other in zip(found, due, strict=True)))
    try:
        found, due = np.asarray(found), np.asarray(due)
    except Exception:  # ragged lists, tensors without a value
        return False
    if found.dtype.kind not in "biufc" or found.shape != due.shape:
        return False
    return np.allclose(found, due, rtol=rtol, atol=atol, equal_nan=True)


def raises(kind: type[Exception], function: Callable, *arguments: Any) -> bool:
    """Returns whether a call raises an error of this type; others propagate."""
    try:
        function(*arguments)
    except kind:
        return True
    return False


def shown(due: object, found: object) -> str:
    """Describes the expected and the actual value on one line.

    Floats have six digits, or all of them if the two values differ only behind these.
    """
    values = [[" ".join(repr(listed(value, digits)).split()) for value in (due, found)]
              for digits in (6, 17)]
    due, found = values[values[0][0] == values[0][1]]
    return f"expected {shortened(due, 200)}, but got {shortened(found, 200)}"


def listed(value: object, digits: int = 6) -> object:
    """Converts arrays to nested lists whose floats have a few significant digits."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list):
        return [listed(one, digits) for one in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def shortened(text: str, most: int = MOST) -> str:
    """Shortens a text to at most `most` characters at a word boundary."""
    return text if len(text) <= most else text[: most - 3].rsplit(" ", 1)[0] + "..."


def same(text: str, due: object, found: object, case: str = "") -> Claim:
    """Returns the claim that two values are equal and have the same type."""
    holds = type(found) is type(due) and found == due
    return text, holds, "" if holds else _in_case(case, shown(due, found))


def near(text: str, due: object, found: object, case: str = "",
         rtol: float = 1e-5, atol: float = 1e-6) -> Claim:
    """Returns the claim that two results are numerically equal up to rounding."""
    holds = close(found, due, rtol, atol)
    if holds:
        return text, True, ""
    said = shown(due, found)
    if said.endswith("..."):  # too long to compare
        said = _first_difference(due, found, rtol, atol) or said
    return text, False, _in_case(case, said)


def _first_difference(due: object, found: object, rtol: float, atol: float) -> str:
    """Describes the first place at which two arrays of equal shape differ, or ""."""
    try:
        due, found = np.asarray(due, float), np.asarray(found, float)
    except Exception:  # of different lengths, or no numbers
        return ""
    if due.shape != found.shape:
        return f"expected the shape {due.shape}, but got {found.shape}"
    for place in np.argwhere(~np.isclose(found, due, rtol, atol, equal_nan=True)):
        at = tuple(place.tolist())
        return f"at the index {list(at)}, {shown(due[at], found[at])}"
    return ""


def tensor(text: str, dtype: tf.DType, found: object, case: str = "") -> Claim:
    """Returns the claim that a result is a tensor of the given dtype."""
    holds = isinstance(found, tf.Tensor) and found.dtype == dtype
    return text, holds, _in_case(case, f"it returned {found!r:.80}")


def _in_case(case: str, said: str) -> str:
    return f"{case}: {said}" if case else said


def is_untouched(attempt: object) -> bool:
    """Returns whether an attempt still has an empty body, as in the exercise stub."""
    if isinstance(attempt, type):
        return not any(callable(value) for value in vars(attempt).values())
    if not hasattr(attempt, "__code__"):
        return False
    loads_none = [("LOAD_CONST", None), ("RETURN_CONST", None)]  # the latter in 3.12
    steps = [(op.opname, op.argval) for op in dis.get_instructions(attempt.__code__)
             if op.opname not in ("RESUME", "NOP", "RETURN_VALUE")]
    return len(steps) == 1 and steps[0] in loads_none
