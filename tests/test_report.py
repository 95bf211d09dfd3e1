"""What a check says: of a stub, of a wrong attempt, of a right one, and its hints."""

import pytest
import tensorflow as tf

from helpers.checks.report import Report, exercise, is_untouched


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


def test_a_right_attempt_gets_no_hint():
    assert "Hint" not in repr(check_halve(lambda x: x / 2, hints=2))


def test_an_error_is_a_cross_not_a_traceback():
    report = check_halve(lambda x: 1 / 0)
    assert not report
    assert "ZeroDivisionError: division by zero" in repr(report)


def test_a_right_attempt_is_true():
    report = check_halve(lambda x: x / 2)
    assert report
    assert repr(report).count("✓") == 3


def test_no_claims_at_all_is_no_pass():
    assert not Report("Exercise 0")


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
