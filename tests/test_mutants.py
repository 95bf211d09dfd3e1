"""The rules that measure checks: what they change, and what a poor check lets pass."""

import ast
import contextlib
import os

import numpy as np
import pytest
import tensorflow as tf
from tqdm import tqdm

from helpers.checks import report
from tools import mutants, special
from tools import notebook as nb
from tools.lesson import Lesson
from tools.mutation import mutants as changed

ANSWER = '''
def scaled(numbers, factor):
    """Doubles by default."""
    if len(numbers) > 3:
        numbers = numbers[1:]
    return [n * factor for n in numbers]
'''
FOUND = {mutant.name: mutant.source for mutant in changed(ANSWER)}
TASKS = [task for path in nb.lessons(mutants.ROOT) for task in Lesson(path).exercises]


def test_each_mutant_is_a_program_and_no_two_are_alike():
    assert len(set(FOUND.values())) == len(FOUND) == len(changed(ANSWER))
    for source in FOUND.values():
        assert ast.unparse(ast.parse(source)) != ast.unparse(ast.parse(ANSWER))
        assert "Doubles by default" in source


@pytest.mark.parametrize("name, part", [
    ("GtE: len(numbers) > 3", ">= 3"), ("one more: 3", "> 4"), ("one less: 1", "[0:]"),
    ("whole slice: 1:", "numbers[:]"), ("Div: n * factor", "n / factor"),
    ("condition turned: if len(numbers) > 3:", "not len(numbers) > 3"),
    ("statement gone: numbers = numbers[1:]", "pass"),
    ("loop over last_item: for n in numbers", "_s.last_item(numbers)"),
    ("factor once in: scaled", "factor = _s.once(lambda: factor"),
    ("numbers unique in: scaled", "_s.unique(numbers)"),
    ("returns without_gradient of: scaled", "return _s.without_gradient(["),
])
def test_a_rule_changes_what_it_names(name, part):
    assert part in FOUND[name]


def test_what_keeps_its_first_value_forgets_it_for_the_next_mutant():
    assert special.once(lambda: 1, "a") == special.once(lambda: 2, "a") == 1
    special.forget()
    assert special.once(lambda: 3, "a") == 3 and special.applied


@pytest.mark.parametrize("value, rule, due", [
    ([3, 0, 3], special.unique, [3, 0]), ([3, 0, 3], special.without_zeros, [3, 1, 3]),
    ([3, -1], special.absolute, [3, 1]), ([3, 4, 5], special.last_item, [5]),
    ({"a": 1, "b": 2}, special.first_item, {"a": 1}),
    ([None, 4], special.filled, [4, 4]),
    ([2**24 + 1], lambda v: special.rounded(np.array(v)), [2**24]),
])
def test_a_specialiser_makes_it_right_for_less(value, rule, due):
    special.forget()
    assert (np.array(rule(value)) == np.array(due)).all() and special.applied


@pytest.mark.parametrize("rule", [special.first_item, special.absolute, special.filled,
                                  special.without_gradient, special.rounded])
def test_what_a_type_has_not_leaves_no_trace(rule):
    special.forget()
    assert rule("text") == "text" and not special.applied


def test_a_gradient_is_stopped():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = special.without_gradient(x * x)
    assert tape.gradient(y, x) is None


def test_a_check_of_one_case_is_found_out():
    def poor(attempt):
        yield "doubles", attempt([1, 2], 2) == [2, 4], "it does not"

    def better(attempt):
        for numbers in ([1, 2], [2, 5], [], [0, -1, -1], [4, 3, 2, 1], [5, 6, 7, 7, 8]):
            for factor in (2, 3, 0):
                kept = numbers[1:] if len(numbers) > 3 else numbers
                yield ("scales", attempt(numbers, factor) == [factor * n for n in kept],
                       "it does not")

    def accepted(check):
        return {name for name, source in FOUND.items() if passes(check, source)}

    assert "factor once in: scaled" in accepted(poor)
    assert not accepted(better)


def passes(check, source):
    """Whether a check takes a mutant for an answer, and the mutant is one."""
    special.forget()
    place = {}
    with contextlib.suppress(Exception):
        exec(source, place)
        if report.exercise("Exercise 0: scaled")(check)(place["scaled"]):
            return bool(special.applied) or mutants.IMPORT not in source
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs fork and limits")
@pytest.mark.parametrize("task", TASKS[::3], ids=lambda task: task.key)
def test_a_wrong_answer_drawn_by_a_seed_is_refused(task):
    mutants.process.prepare({"tools.special", *(task.module for task in TASKS)})
    equal = mutants.listed().get(task.key, {})
    [(mutant, said)] = mutants.fates(task, equal, tqdm(disable=True), 1).items()
    assert said != mutants.ACCEPTED, mutant.name
