"""The checks: what a report says, and that every one is found by its name."""

import re
from pathlib import Path

import pytest

from helpers import checks
from helpers.checks.report import Report, exercise

FOLDER = Path(checks.__file__).parent


@exercise("Exercise 0: halve", "divide by two.")
def check_halve(halve):
    yield "returns a number", isinstance(halve(4), float), "it returned something else"
    yield "halves 4", halve(4) == 2, f"it gave {halve(4)}"
    yield "halves 0", halve(0) == 0, f"it gave {halve(0)}"


def test_a_stub_gets_a_friendly_word():
    report = check_halve(lambda x: None)
    assert not report
    assert "Start here: divide by two." in repr(report)
    assert "✓" not in repr(report)


def test_a_wrong_attempt_stops_at_the_first_cross():
    report = check_halve(lambda x: x / 3)
    assert not report
    assert [holds for _, holds, _ in report.claims] == [True, False]
    assert "it gave" in repr(report) and "Start here" not in repr(report)


def test_an_error_is_a_cross_not_a_traceback():
    report = check_halve(lambda x: 1 / 0)
    assert not report
    assert "ZeroDivisionError: division by zero" in repr(report)


def test_a_right_attempt_is_true():
    report = check_halve(lambda x: x / 2)
    assert report
    assert repr(report).count("✓") == 3


def test_no_claims_at_all_is_no_pass():
    assert not Report("Exercise 0", "begin")


def test_every_check_is_found_by_its_name():
    written = {
        name
        for file in FOLDER.glob("lesson_*.py")
        for name in re.findall(r"^def (check_\w+)", file.read_text("utf-8"), re.M)
    }
    assert written == set(checks.__all__)
    for name in written:
        assert getattr(checks, name).__name__ == name


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no check_nothing"):
        checks.check_nothing  # noqa: B018
