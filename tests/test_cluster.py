"""No process and no listening port is left, however a cluster ends."""

import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from helpers.cluster import Cluster, WorkerDied
from tests.limits import LIMIT

# Small programs in place of TensorFlow's server, which takes seconds to import.
LISTEN = """
import json, os, socket, sys, time
config = json.loads(os.environ["TF_CONFIG"])
task = config["task"]
host, port = config["cluster"][task["type"]][task["index"]].split(":")
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((host, int(port)))
server.listen()
print("listening", sys.argv[1:])
time.sleep(600)
"""
PARENT = """
import signal, sys, time
from helpers.cluster import Cluster
# `nohup` and a job in the background hand on that a signal is to be ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with Cluster(sys.argv[1], {"ps": 1, "worker": 2}) as cluster:
    tasks = [cluster.start(*task, sys.argv[2]) for task in cluster.tasks]
    cluster.wait_for(lambda: all(task.lines() for task in tasks))
    print(*[task.process.pid for task in tasks],
          *sum(cluster.addresses.values(), []), flush=True)
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        raise
"""


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def nobody_listens(address):
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) != 0


def assert_nothing_left(pids, addresses):
    """Waits for both: a process counts as gone before its last thread closes a port."""
    end = time.monotonic() + 60
    for is_over, ones in ((is_gone, pids), (nobody_listens, addresses)):
        while not all(map(is_over, ones)) and time.monotonic() < end:
            time.sleep(0.05)
        assert all(map(is_over, ones))


def started(cluster, path, *arguments):
    tasks = [cluster.start(*task, path, *arguments) for task in cluster.tasks]
    cluster.wait_for(lambda: all(task.lines() for task in tasks))
    return tasks


def flat(cluster):
    return sum(cluster.addresses.values(), [])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_when_the_block_fails(tmp_path, program, error):
    with pytest.raises(error), Cluster(tmp_path, {"worker": 3}) as cluster:
        tasks = started(cluster, program(LISTEN))
        raise error
    assert_nothing_left([task.process.pid for task in tasks], flat(cluster))


@pytest.mark.parametrize("number", [
    signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_is_left_when_the_parent_is_killed(tmp_path, program, number):
    parent = subprocess.Popen(
        [sys.executable, program(PARENT, "parent.py"), tmp_path, program(LISTEN)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    *pids, one, two, three = parent.stdout.readline().split()
    pids, addresses = list(map(int, pids)), [one, two, three]
    assert not any(map(is_gone, pids)) and not any(map(nobody_listens, addresses))
    parent.send_signal(number)
    parent.wait(LIMIT)
    parent.stdout.close()
    assert_nothing_left(pids, addresses)


def test_a_worker_that_dies_shows_its_last_lines(tmp_path, program):
    path = program("print('reading')\nraise FileNotFoundError('no shard 3')\n")
    with (
        pytest.raises(WorkerDied, match=r"worker:1 ended with code 1: .*no shard 3"),
        Cluster(tmp_path, {"worker": 2}) as cluster,
    ):
        listening = cluster.start("worker", 0, program(LISTEN, "listen.py"))
        cluster.wait(listening, cluster.start("worker", 1, path))
    assert_nothing_left([listening.process.pid], flat(cluster))


def test_the_time_limit_ends_everything(tmp_path, program):
    with (
        pytest.raises(TimeoutError, match="limit of 2 s.* worker:0 printed .*listen"),
        Cluster(tmp_path, {"worker": 1}, seconds=2) as cluster,
    ):
        task = cluster.start("worker", 0, program(LISTEN))
        cluster.wait(task)
    assert_nothing_left([task.process.pid], flat(cluster))


def test_a_reserved_port_is_given_to_nobody_else(tmp_path):
    with Cluster(tmp_path, {"worker": 1}) as cluster:
        port = int(flat(cluster)[0].split(":")[1])
        with socket.socket() as other, pytest.raises(OSError):
            other.bind(("127.0.0.1", port))
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))


@pytest.mark.parametrize("own", [None, "1"])
def test_a_task_runs_several_ops_at_a_time_on_one_core_too(
    tmp_path, program, monkeypatch, own
):
    """With one, the coordinator of lesson 09a never ended on one core."""
    monkeypatch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
    if own:
        monkeypatch.setenv("TF_NUM_INTEROP_THREADS", own)
    with Cluster(tmp_path / "run", {"worker": 1}) as cluster:
        path = program("import os; print(os.environ['TF_NUM_INTEROP_THREADS'])")
        task = cluster.start("worker", 0, path)
        cluster.wait(task)
    [said] = task.lines()
    assert said == own if own else int(said) >= 4


CHATTERS = """
import os, threading
def log():
    for _ in range(99_999):
        os.write(2, b"said meanwhile\\n")
threading.Thread(target=log, daemon=True).start()
for i in range(2000):
    print("step", i, "of", 2000)
"""


def test_what_a_thread_logs_comes_between_lines_and_not_into_them(tmp_path, program):
    with Cluster(tmp_path / "run", {"worker": 1}) as cluster:
        task = cluster.start("worker", 0, program(CHATTERS))
        cluster.wait(task)
    said = [line for line in task.lines() if line != "said meanwhile"]
    assert said == [f"step {i} of 2000" for i in range(2000)]
