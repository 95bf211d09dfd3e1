"""The checks of lesson 09: wrong answers get a cross, and a word that helps."""

import json

import pytest

from helpers.checks.lesson_09 import check_repeated_steps, check_tf_configs

pytestmark = pytest.mark.timeout(60)


def configs(indices):
    cluster = {"ps": ["alpha:2222"], "worker": ["beta:2222", "gamma:2222"]}
    jobs = ["ps", "worker", "worker"]
    return lambda hosts: [
        json.dumps({"cluster": cluster, "task": {"type": j, "index": i}})
        for j, i in zip(jobs, indices, strict=True)
    ]


@pytest.mark.parametrize(
    "check, attempt, hint",
    [
        (check_tf_configs, lambda hosts: hosts[:1], "list of three strings"),
        (check_tf_configs, lambda hosts: ["{}"] * 3, "each must hold"),
        (check_tf_configs, configs([0, 1, 2]), "counts within"),
        (check_repeated_steps, lambda log: len(log) - len(set(log)), "only step 3"),
        (check_repeated_steps, lambda log: 1, "answer is 0"),
    ],
)
def test_wrong_answers_get_their_hint(check, attempt, hint):
    report = check(attempt)
    assert not report
    assert hint in " ".join(repr(report).split())


@pytest.mark.parametrize(
    "check, attempt",
    [
        (check_tf_configs, configs([0, 0, 1])),
        (check_repeated_steps, lambda log: sum(log.count(s) > 1 for s in set(log))),
    ],
)
def test_right_answers_pass(check, attempt):
    assert check(attempt)
