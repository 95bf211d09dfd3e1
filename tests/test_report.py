"""What a check says: of a stub, of a wrong attempt, of a right one, and its hints."""

import itertools
import os
import sys
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import (
    answering,
    close,
    drawn,
    exercise,
    is_untouched,
    near,
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
    assert "division" not in none
    assert none.endswith("For a hint, pass hints=1 to the check.")
    assert "Hint 1: think of a division." in one and "x / 2" not in one
    assert one.endswith("For the next hint, pass hints=2 to the check.")
    assert "Hint 2: return x / 2" in two and "hints=" not in two


@exercise("Exercise 0: double", "think of a sum.", about={"doubles 0": "add, so that "
          "0 stays 0."})
def check_double(double):
    yield "doubles 4", double(4) == 8, f"it gave {double(4)}"
    yield "doubles 0", double(0) == 0, f"it gave {double(0)}"


@pytest.mark.parametrize(("wrong", "first"), [
    (lambda x: x + 4, "add, so that 0 stays 0."),
    (lambda x: x, "think of a sum."),
])
def test_the_hint_of_the_failed_claim_comes_first(wrong, first):
    assert f"Hint 1: {first}" in repr(check_double(wrong, hints=1))


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
    assert repr(check_total(sum)).splitlines()[1] == "  [✓] is the sum (12 cases)"


def test_the_smallest_case_that_fails_is_shown():
    report = check_total(lambda numbers: numbers[0] if numbers else 0)
    assert [holds for _, holds, _ in report.claims] == [True, True, False]
    assert "expected " in repr(report) and "but got " in repr(report)


def test_what_equals_everything_is_not_close():
    assert not check_total(lambda numbers: mock.ANY)
    assert not close([1.0, 1.0], 1.0) and not close([[1.0]], [1.0])
    assert close(np.float32(0.1), 0.1) and close([], [])


def test_a_check_that_fails_does_not_blame_the_answer():
    report = check_broken(lambda x: x)
    assert not report and "the check itself failed" in repr(report)
    assert "✗" not in repr(report)
    assert "✗" in repr(check_broken(lambda x: 1 / 0))


def test_floats_have_six_digits_unless_the_difference_is_smaller():
    assert shown(np.float32([0.1, 2]), 3.0) == "expected [0.1, 2.0], but got 3.0"
    assert shown(1.0, 1.0 + 1e-9) == "expected 1.0, but got 1.000000001"


def test_a_long_array_shows_the_first_place_that_differs():
    due = np.zeros([99, 3])
    found = due + 5 * (np.arange(297).reshape(99, 3) == 212)
    *_, said = near("is zero", due, found, "in case 1")
    assert said == "in case 1: at the index [70, 2], expected 0.0, but got 5.0"
    *_, said = near("is zero", due, found[1:])
    assert said == "expected the shape (99, 3), but got (98, 3)"
    assert near("is zero", due, [*due, "x"])[2].startswith("expected [[0.0, ")


def test_a_long_value_is_cut_between_two_numbers():
    numbers = [1234567.5] * 99
    due, found = shown(numbers, numbers).split(", but got ")
    assert found.endswith(" 1234567.5,...") and len(due) <= len("expected ") + 200


@exercise("Exercise 0: scaled", adds=["train_op"])
def check_scaled(attempt):
    for value in drawn(lambda rng, size: rng.normal(size=[2, 1 + size]), 3):
        about = {"by": [3.0], "notes": np.ones(2)}
        with tf.Graph().as_default(), tf1.Session() as session, answering():
            tf1.add_to_collection("losses", "one")
            got = session.run(attempt(tf.constant(value), about))
        yield "is scaled", close(got, 3.0 * value), shown(3.0 * value, got)


def scaled(x, about):
    return x * about["by"][0]


def with_deed(deed):
    """Returns a right answer that also does something else."""
    def attempt(x, about):
        result = scaled(x, about)
        deed(x, about)
        return result

    return attempt


def graph_of(x):
    return tf1.get_default_graph()


@pytest.mark.parametrize(("deed", "said"), [
    (lambda x, about: about.clear(), "argument 2"),
    (lambda x, about: about["by"].append(1), "argument 2"),
    (lambda x, about: about["notes"].fill(0), "argument 2"),
    (lambda x, about: graph_of(x).clear_collection("losses"), "removed an item"),
    (lambda x, about: graph_of(x).add_to_collection("losses", 1), "added to"),
    (lambda x, about: os.environ.update(OF_AN_ANSWER="1"), "environment"),
    (lambda x, about: os.chdir("/"), "folder"),
    (lambda x, about: tf1.set_random_seed(1), "seed"),
    (lambda x, about: tf1.get_variable_scope().reuse_variables(), "mode"),
])
def test_what_an_answer_changes_is_said(deed, said):
    assert check_scaled(with_deed(lambda x, about: graph_of(x).add_to_collection(
        "train_op", 1)))
    before = os.getcwd(), dict(os.environ)
    report = check_scaled(with_deed(deed))
    assert not report and not report.broken and said in repr(report)
    assert (os.getcwd(), dict(os.environ)) == before


def by_size(memory, key):
    """Returns an answer that remembers, by what `key` makes of its tensor."""
    return lambda x, about: memory.setdefault(key(x), scaled(x, about))


def counted():
    calls = itertools.count()
    return lambda x, about: scaled(x, about) * (1.0 if next(calls) < 3 else 2.0)


@pytest.mark.parametrize("attempt", [
    by_size({}, lambda x: x.shape[1]),  # another graph: an error
    by_size({}, graph_of), counted(),
    lambda x, about: tf.reshape(scaled(x, about), x.shape.as_list()),
])
def test_what_remembers_or_needs_a_known_length_fails_in_round_two(attempt):
    report = check_scaled(attempt)
    assert not report and not report.broken
    assert "(" in report.claims[-1][2]


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


def mute(x, about):
    raise Mute


@pytest.mark.parametrize(("attempt", "said"), [
    (None, "is a function"), ("text", "is a function"), (Mute, "is a function"),
    (mute, "Mute: "), (lambda x, about: sys.exit(3), "SystemExit: 3"),
])
def test_what_is_no_answer_or_ends_badly_has_words(attempt, said):
    report = check_scaled(attempt)
    assert not report and not report.broken and said in repr(report)


def test_a_report_is_a_page_and_a_claim_stands_in_it_once():
    report = check_total(
        lambda numbers: sum(numbers) if len(numbers) < 3 else "x" * 10**6)
    report.add("is long", False, "y" * 10**6)
    assert len(repr(report)) < 2000
    assert repr(report).count("is the sum") == 1
