"""A session whose server is killed or stopped: the program ends, with one line."""

import os
import signal
import subprocess
import sys

import pytest

from helpers.files import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600),
              pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")]

SERVER = """
from helpers import lesson; lesson.begin("tests")
import tensorflow as tf, time
server = tf.distribute.Server({"worker": ["127.0.0.1:0"]}, job_name="worker")
print(server.target, flush=True)
time.sleep(600)
"""

CLIENT = """
from helpers import lesson; lesson.begin("tests")
import os, sys
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from helpers.errors import PipelineStalled
from helpers.queues import running_queues
with tf.Graph().as_default() as graph:
    queue = tf1.FIFOQueue(5, [tf.int32], shapes=[[]], name="numbers")
    value = queue.dequeue()
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(1)]))
target, process, number, when = sys.argv[1:]
try:
    with tf1.Session(target, graph=graph) as session:
        session.run(queue.size())
        if when == "before":
            os.kill(int(process), int(number))
        with running_queues(session, stall=3, grace=1) as runner:
            runner.run(value)
            os.kill(int(process), int(number))
            while True:
                runner.run(value)
except (PipelineStalled, tf.errors.OpError) as error:
    print(type(error).__name__, error, flush=True)
"""


def run(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )


def test_a_server_that_dies_or_stops_ends_the_program_with_one_line(tried):
    """Both at once: each waits for TensorFlow to give up its connection."""
    cases = [("before", signal.SIGSTOP), ("inside", signal.SIGKILL)]
    tried(len(cases))
    servers = [run(SERVER) for _ in cases]
    clients = []
    try:
        for server, (when, number) in zip(servers, cases, strict=True):
            target = server.stdout.readline().strip()
            clients.append(run(CLIENT, target, server.pid, int(number), when))
        said = [client.communicate(timeout=400)[0] for client in clients]
    finally:
        for process in [*servers, *clients]:
            process.kill()
            process.communicate()
    assert [client.returncode for client in clients] == [0] * len(cases)
    for (when, _), text in zip(cases, said, strict=True):
        assert len(text.splitlines()) == 1, text
        if when == "before":
            assert text.startswith("PipelineStalled the session did not answer"), text
