"""What a check says: of a stub, of a wrong attempt, of a right one, and its hints."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks.report import (
    answering,
    close,
    drawn,
    exercise,
    is_untouched,
    shown,
)


@exercise("Exercise 0: halve", "think of a division.", "return x / 2")
def check_halve(halve):
    yield "returns a number", isinstance(halve(4), float), "it returned something else"
    yield "halves 4", halve(4) == 2, f"it gave {halve(4)}"
    yield "halves 0", halve(0) == 0, f"it gave {halve(0)}"


def stub(x):
    pass


def test_a_stub_gets_a_friendly_word_and_no_hint():
    report = check_halve(stub, hints=2)
    assert not report
    assert repr(report) == "Exercise 0: halve\n  [ ] not tried yet"


def test_a_wrong_attempt_stops_at_the_first_cross():
    report = check_halve(lambda x: x / 3)
    assert not report
    assert [holds for _, holds, _ in report.claims] == [True, False]
    assert "it gave" in repr(report)


def test_hints_come_one_at_a_time_and_only_when_asked():
    def wrong(x):
        return x / 3

    none, one, two = (repr(check_halve(wrong, hints=n)) for n in range(3))
    assert "division" not in none and "hints=1" in none
    assert "Hint 1: think of a division." in one and "x / 2" not in one
    assert "hints=2" in one
    assert "Hint 2: return x / 2" in two and "hints=" not in two


class UntouchedModule(tf.Module):
    pass


class StartedModule(tf.Module):
    def update(self):
        return 1


def documented(x):
    """Says what to do."""
    pass


@pytest.mark.parametrize(
    ("attempt", "untouched"),
    [(stub, True), (documented, True), (lambda x: None, True), (UntouchedModule, True),
     (StartedModule, False), (lambda x: x, False), (len, False), (None, False)],
)
def test_what_counts_as_untouched(attempt, untouched):
    assert is_untouched(attempt) is untouched


@exercise("Exercise 0: total")
def check_total(total):
    for numbers in drawn(lambda rng, size: rng.integers(-9, 9, size).tolist(), 6):
        with answering(f"of {numbers}"):
            found = total(numbers)
        yield "is the sum", close(found, sum(numbers)), shown(sum(numbers), found)


@exercise("Exercise 0: broken")
def check_broken(attempt):
    attempt(1)
    raise KeyError("a slip of the check")
    yield


def test_a_claim_of_many_cases_is_one_line():
    assert repr(check_total(sum)).splitlines()[1] == "  [✓] is the sum (6 cases)"


def test_the_smallest_case_that_fails_is_shown():
    report = check_total(lambda numbers: numbers[0] if numbers else 0)
    assert [holds for _, holds, _ in report.claims] == [True, True, False]
    assert "due " in repr(report) and "yours " in repr(report)


def test_what_equals_everything_is_not_close():
    assert not check_total(lambda numbers: mock.ANY)
    assert not close([1.0, 1.0], 1.0) and not close([[1.0]], [1.0])
    assert close(np.float32(0.1), 0.1) and close([], [])


def test_a_check_that_fails_does_not_blame_the_answer():
    report = check_broken(lambda x: x)
    assert not report and "the check itself failed" in repr(report)
    assert "✗" not in repr(report)
    assert "✗" in repr(check_broken(lambda x: 1 / 0))
