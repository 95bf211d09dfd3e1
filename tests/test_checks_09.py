"""The checks of lessons 09a and 09b: right answers of any shape pass."""

import collections
import json
import pickle
from pathlib import Path

import pytest
import tensorflow as tf

from helpers.checks.lesson_09a import check_repeated_steps, check_tf_configs
from helpers.checks.lesson_09b import check_read_on


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


def from_the_hint(hosts):
    cluster = {"ps": [f"{hosts[0]}:2222"],
               "worker": [f"{host}:2222" for host in hosts[1:]]}
    return [json.dumps({"cluster": cluster, "task": {
        "type": "worker" if n else "ps", "index": max(0, n - 1)}})
        for n in range(len(hosts))]


def with_two_sets(log):
    seen, again = set(), set()
    for step in log:
        (again if step in seen else seen).add(step)
    return len(again)


def pairs(log):
    return zip(log, log[1:], strict=False)


def sorts_in_place(log):
    log.sort()
    return len({a for a, b in pairs(log) if a == b})


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


def counted_and_skipped(dataset, folder, count, *, typed=None):
    place = Path(folder, "count")
    place.parent.mkdir(parents=True, exist_ok=True)
    done = int(place.read_text()) if place.exists() else 0
    place.write_text(str(done + (typed or count)))
    return list(dataset.skip(done).take(count).as_numpy_iterator())


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


RIGHT = [
    (check_tf_configs, configs),
    (check_tf_configs, lambda hosts: tuple(configs(hosts))),
    (check_tf_configs, by_templates),
    (check_tf_configs, from_the_hint),
    (check_repeated_steps, with_two_sets),
    (check_repeated_steps, lambda log: sum(log.count(s) > 1 for s in set(log))),
    (check_repeated_steps,
     lambda log: sum(n > 1 for n in collections.Counter(log).values())),
    (check_read_on, with_a_manager),
    (check_read_on, written_and_read),
    (check_read_on, counted_and_skipped),
]
WRONG = [
    (check_tf_configs, lambda hosts: configs(hosts)[:1], "wanted 2 strings"),
    (check_tf_configs, lambda hosts: configs(hosts)[0], "got ['str']"),
    (check_tf_configs, lambda hosts: configs(hosts, write=dict), "got ['dict'"),
    (check_tf_configs, lambda hosts: configs(hosts, write=str), "json.dumps"),
    (check_tf_configs, lambda hosts: configs(hosts, port=""), "the same cluster"),
    (check_tf_configs, lambda hosts: configs(hosts, first=1), "counts within"),
    (check_tf_configs, lambda hosts: configs(hosts, number=str), "a whole number"),
    (check_tf_configs, lambda hosts: configs(sorted(hosts)), "the same cluster"),
    (check_tf_configs, lambda hosts: configs(hosts[:3]), "one text per host"),
    (check_repeated_steps, lambda log: len(log) - len(set(log)), "due"),
    (check_repeated_steps, lambda log: 1, "due 0, yours 1"),
    (check_repeated_steps, lambda log: sum(a == b for a, b in pairs(log)), "due"),
    (check_repeated_steps, lambda log: sum(b <= a for a, b in pairs(log)), "due"),
    (check_repeated_steps, sorts_in_place, "has become"),
    (check_read_on, lambda *a: with_a_manager(*a, keep=False), "in life 2"),
    (check_read_on, lambda *a: with_a_manager(*a, restore=False), "in life 2"),
    (check_read_on, lambda *a: with_a_manager(*a, lose=1), "in life 2"),
    (check_read_on, lambda *a: counted_and_skipped(*a, typed=2), "in life"),
    (check_read_on, in_the_process({}), "kept elsewhere"),
    (check_read_on, without_what_was_read, "in life"),
]


@pytest.mark.parametrize("check, attempt", RIGHT)
def test_accepts(check, attempt):
    report = check(attempt)
    assert report, report


@pytest.mark.parametrize("check, attempt, fault", WRONG)
def test_names_the_fault(check, attempt, fault):
    report = check(attempt, hints=2)
    assert not report
    assert fault in " ".join(repr(report).split())
    assert "Hint 2" in repr(report)
