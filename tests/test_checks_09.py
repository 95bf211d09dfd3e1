"""The checks of lesson 09: right answers of any shape pass, wrong ones are named."""

import collections
import json
import pickle
from pathlib import Path

import pytest
import tensorflow as tf

from helpers.checks.lesson_09 import (
    check_read_on,
    check_repeated_steps,
    check_tf_configs,
)


def refused(report, fault):
    assert not report
    assert fault in " ".join(repr(report).split())


def configs(hosts, *, port=":2222", number=int, write=json.dumps, first=0, ps=1):
    """The answer of the solutions, with one part of it replaced."""
    addresses = [host + port for host in hosts]
    cluster = {"ps": addresses[:ps], "worker": addresses[ps:]}
    tasks = [("ps", i) for i in range(ps)]
    tasks += [("worker", first + i) for i in range(len(hosts) - ps)]
    return [write({"cluster": cluster, "task": {"type": job, "index": number(i)}})
            for job, i in tasks]


def by_templates(hosts):
    workers = ", ".join(f'"{host}:2222"' for host in hosts[1:])
    cluster = f'{{"ps": ["{hosts[0]}:2222"], "worker": [{workers}]}}'
    yield f'{{"cluster": {cluster}, "task": {{"type": "ps", "index": 0}}}}'
    for n in range(len(hosts) - 1):
        yield f'{{"cluster": {cluster}, "task": {{"type": "worker", "index": {n}}}}}'


@pytest.mark.parametrize(
    "attempt", [configs, lambda hosts: tuple(configs(hosts)), by_templates]
)
def test_tf_configs_accepts(attempt):
    report = check_tf_configs(attempt)
    assert report, report


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (lambda hosts: configs(hosts)[:1], "wanted 3 strings"),
        (lambda hosts: configs(hosts)[0], "got one str"),
        (lambda hosts: print(end=""), "got one NoneType"),
        (lambda hosts: configs(hosts, write=dict), "['dict', 'dict', 'dict']"),
        (lambda hosts: configs(hosts, write=str), "is not what json.dumps writes"),
        (lambda hosts: ["{}"] * 3, "wanted {'ps'"),
        (lambda hosts: configs(hosts, port=""), "wanted {'ps'"),
        (lambda hosts: configs(hosts, ps=2), "wanted {'ps'"),
        (lambda hosts: configs(hosts, first=1), "counts within"),
        (lambda hosts: configs(hosts, number=str), "the indices are ['0', '0', '1']"),
    ],
)
def test_tf_configs_names_the_fault(attempt, fault):
    refused(check_tf_configs(attempt), fault)


def with_two_sets(log):
    seen, again = set(), set()
    for step in log:
        (again if step in seen else seen).add(step)
    return len(again)


@pytest.mark.parametrize(
    "attempt",
    [
        with_two_sets,
        lambda log: sum(log.count(step) > 1 for step in set(log)),
        lambda log: sum(n > 1 for n in collections.Counter(log).values()),
    ],
)
def test_repeated_steps_accepts(attempt):
    report = check_repeated_steps(attempt)
    assert report, report


def pairs(log):
    return zip(log, log[1:], strict=False)


def sorts_in_place(log):
    log.sort()
    return len({a for a, b in pairs(log) if a == b})


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (lambda log: len(log) - len(set(log)), "only step 3"),
        (lambda log: 1, "answer is 0"),
        (lambda log: sum(a == b for a, b in pairs(log)), "3 and 4"),
        (lambda log: sum(b <= a for a, b in pairs(log)), "3 and 4"),
        (lambda log: max((log.count(s) for s in log), default=1) - 1, "3 and 4"),
        (sorts_in_place, "has become"),
    ],
)
def test_repeated_steps_names_the_fault(attempt, fault):
    refused(check_repeated_steps(attempt), fault)


def with_a_manager(dataset, folder, count, *, keep=True, restore=True, lose=0):
    iterator = iter(dataset)
    kept = {"iterator": iterator} if keep else {"step": tf.Variable(0)}
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(**kept), folder, 1)
    if restore:
        manager.restore_or_initialize()
    found = [int(next(iterator)) for _ in range(count)]
    for _ in range(lose):
        next(iterator)
    manager.save()
    return found


def written_and_read(dataset, folder, count):
    iterator = iter(dataset)
    place = tf.train.Checkpoint(place=iterator)
    if tf.io.gfile.exists(f"{folder}/here.index"):
        place.read(f"{folder}/here")
    found = [next(iterator).numpy() for _ in range(count)]
    place.write(f"{folder}/here")
    return found


def counted_and_skipped(dataset, folder, count):
    place = Path(folder, "count")
    place.parent.mkdir(parents=True, exist_ok=True)
    done = int(place.read_text()) if place.exists() else 0
    place.write_text(str(done + count))
    return list(dataset.skip(done).take(count).as_numpy_iterator())


@pytest.mark.parametrize(
    "attempt", [with_a_manager, written_and_read, counted_and_skipped]
)
def test_read_on_accepts(attempt):
    report = check_read_on(attempt)
    assert report, report


def saved_too_early(dataset, folder, count):
    iterator = iter(dataset)
    place = tf.train.Checkpoint(place=iterator)
    manager = tf.train.CheckpointManager(place, folder, 1)
    manager.restore_or_initialize()
    found = []
    for _ in range(count):
        manager.save()
        found.append(int(next(iterator)))
    return found


def in_the_process(lives):
    def attempt(dataset, folder, count):
        done = lives.get(folder, 0)
        lives[folder] = done + count
        return list(dataset.skip(done).take(count).as_numpy_iterator())

    return attempt


def without_what_was_read(dataset, folder, count):
    """Keeps what was read, not the place: wrong where the order is not sorted."""
    place = Path(folder, "read")
    place.parent.mkdir(parents=True, exist_ok=True)
    read = pickle.loads(place.read_bytes()) if place.exists() else -1
    found = [int(v) for v in dataset if int(v) > read][:count]
    place.write_bytes(pickle.dumps(max(found, default=read)))
    return found


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (lambda *a: with_a_manager(*a, keep=False), "not saved, or not restored"),
        (lambda *a: with_a_manager(*a, restore=False), "not saved, or not restored"),
        (lambda *a: with_a_manager(*a, lose=1), "taken from the iterator and lost"),
        (saved_too_early, "before the last element"),
        (in_the_process({}), "kept somewhere else"),
        (without_what_was_read, "the lives read"),
    ],
)
def test_read_on_names_the_fault(attempt, fault):
    refused(check_read_on(attempt), fault)


@pytest.mark.parametrize(
    "check", [check_tf_configs, check_repeated_steps, check_read_on]
)
def test_hints_come_in_two_steps(check):
    hints = [repr(check(lambda *_: [], hints=n)) for n in range(3)]
    assert "Hint" not in hints[0]
    assert "Hint 1" in hints[1] and "Hint 2" not in hints[1]
    assert "Hint 2" in hints[2]
