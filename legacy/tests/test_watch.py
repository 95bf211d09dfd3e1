"""`tf1 watch` says why an old program hangs, and lets a slow one go on."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from helpers.files import ROOT
from tests.limits import LIMIT

HEAD = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
"""

# Each way to hang of lesson 03b, and what the program is told.
HANGS = {
    "runners never started": ("""
[one] = tf.train.slice_input_producer([list(range(9))])
batch = tf.train.batch([one], 3)
sess = tf.Session()
sess.run(batch)
""", ["queue 'batch/fifo_queue' starves: its runner was never started",
      "ended before: 0", "MainThread, in session.run for", ": sess.run(batch)"]),
    "a dead thread": ("""
queue = tf.FIFOQueue(8, [tf.int32], [[]], name="numbers")
with tf.control_dependencies([tf.Assert(False, ["no such row"])]):
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)]))
sess = tf.Session()
tf.train.start_queue_runners(sess)
sess.run(queue.dequeue())
""", ["queue 'numbers' starves: its thread is no longer alive",
      "A thread that fills 'numbers' failed: InvalidArgumentError: assertion failed"]),
    "no local variables": ("""
[one] = tf.train.slice_input_producer([list(range(9))], num_epochs=1)
batch = tf.train.batch([one], 3)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
tf.train.start_queue_runners(sess)
sess.run(batch)
""", ["ended before: 1", "limit_epochs/epochs', which is not initialised",
      "Run tf1.local_variables_initializer()"]),
    "a queue nobody fills": ("""
first = tf.FIFOQueue(8, [tf.int32], [[]], name="first")
batch = tf.train.batch([first.dequeue()], 5)
sess = tf.Session()
tf.train.start_queue_runners(sess)
sess.run(batch)
""", ["queue 'first' starves: no op of the graph adds items to it.",
      "starves: its thread is waiting for 'first'", "its op was built here",
      ": batch = tf.train.batch([first.dequeue()], 5)"]),
    "a feeding thread of its own that died": ("""
import threading
queue = tf.FIFOQueue(8, [tf.int32], [[]], name="numbers")
row = tf.placeholder(tf.int32, [])
put, take = queue.enqueue(row), queue.dequeue()
sess = tf.Session()
def feed():
    for value in (1, 2, "three"):
        sess.run(put, {row: value})
threading.Thread(target=feed, name="feeder").start()
while True:
    sess.run(take)
""", ["Thread feeder ended with ValueError: invalid literal",
      "Thread feeder, which filled 'numbers', ended with ValueError: invalid literal"]),
    "two queues that wait for each other": ("""
one = tf.FIFOQueue(8, [tf.int32], [[]], name="one")
two = tf.FIFOQueue(8, [tf.int32], [[]], name="two")
for to, source in (one, two), (two, one):
    fill = to.enqueue(source.dequeue())
    tf.train.add_queue_runner(tf.train.QueueRunner(to, [fill]))
sess = tf.Session()
tf.train.start_queue_runners(sess)
sess.run(one.dequeue())
""", ["starves: its thread is waiting for 'two'",
      "starves: its thread is waiting for 'one'"]),
    "join that waits": ("""
[one] = tf.train.slice_input_producer([list(range(9))])
batch = tf.train.batch([one], 3, capacity=7)
sess, coord = tf.Session(), tf.train.Coordinator()
threads = tf.train.start_queue_runners(sess, coord)
sess.run(batch)
coord.join(threads)
""", ["MainThread, outside of session.run", ": coord.join(threads)", "7 of 7",
      "full: the thread that fills it",
      "a coordinator that has not been asked to stop"]),
}


@contextlib.contextmanager
def watched(folder, program, *options, of=("legacy/tf1.py", "watch")):
    """Starts a program under the watch; ends it in any case."""
    (folder / "old.py").write_text(HEAD + program)
    process = subprocess.Popen(
        [sys.executable, ROOT / of[0], *of[1:], "--stall", "3", *options, "old.py",
         "--rate", "3"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def report(process):
    """Returns what the watch says up to the end of its report."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "Press Ctrl-C to end it" in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


FILMED = "a queue nobody fills"


@pytest.mark.parametrize("way", [way for way in HANGS if way != FILMED])
def test_a_program_that_hangs_is_told_why(way, tmp_path):
    program, wanted = HANGS[way]
    with watched(tmp_path, program) as process:
        said = report(process)
    for words in wanted:
        assert words in said, said


def test_ctrl_c_ends_a_hang_and_its_film_is_there(tmp_path):
    program, wanted = HANGS[FILMED]
    with watched(tmp_path, program, "--film", "film.html") as process:
        said = report(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 130
    assert all(words in said for words in wanted), said
    page = (tmp_path / "film.html").read_text("utf-8")
    assert "thread 1 of 'batch/fifo_queue' waits for items in 'first' for" in page


def test_a_program_that_is_slow_goes_on_as_it_is(tmp_path):
    """Its arguments, folder, modules of its own, and exit status are its own."""
    for name in ("tools", "helpers"):
        (tmp_path / f"{name}.py").write_text("MINE = True")
    program = """
import os, sys, time
assert "helpers.queues" not in sys.modules
slow = tf.py_func(lambda: time.sleep(6) or 1.0, [], tf.float64)
with tf.Session() as sess:
    print(sess.run(slow))
import helpers, tools
assert helpers.MINE and tools.MINE and os.path.exists("old.py")
assert __name__ == "__main__" and sys.argv == ["old.py", "--rate", "3"]
assert os.path.isabs(__file__) and sys.modules["__main__"].__file__ == __file__
sys.exit(7)
"""
    with watched(tmp_path, program, of=("course.py", "watch")) as process:
        out, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 7 and out == "1.0\n", said
    assert "takes items from no queue" in said
    assert "it was slow, but did not hang" in said


def test_a_graph_that_grows_in_a_loop_is_named_with_its_line(tmp_path):
    program = """
batch = tf.placeholder(tf.float32, [2])
total = tf.reduce_sum(tf.stack([batch, batch]))
with tf.Session() as sess:
    for step in range(30):
        sess.run(total, {batch: [1, step]})
    for step in range(30):
        stacked = tf.stack([batch, batch])
        sess.run(stacked, {batch: [1, step]})
"""
    with watched(tmp_path, program) as process:
        _, said = process.communicate(timeout=LIMIT)
    assert said.count("The graph has grown before 20 calls") == 1, said
    assert ": stacked = tf.stack([batch, batch])" in said, said


# Each way to end by an error, and what is said last.
CRASHES = {
    "no local variables": ("""
[one] = tf.train.slice_input_producer([list(range(9))], num_epochs=1)
batch = tf.train.batch([one], 3)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    sess.run(batch)
""", ["The error to look at is FailedPreconditionError",
      "`sess.run(tf1.local_variables_initializer())`"]),
    "an old name": ("""
import tensorflow as new
new.Session()
""", ["The error to look at is AttributeError: module 'tensorflow' has no",
      "port it first", "tf1 port old.py"]),
    "no page knows it": ("raise ValueError('out of cheese')",
                         ["ValueError: out of cheese"]),
}


@pytest.mark.parametrize("way", CRASHES)
def test_a_crash_ends_with_the_verdict_on_the_first_error(way, tmp_path):
    program, wanted = CRASHES[way]
    with watched(tmp_path, program) as process:
        out, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 1, said
    after = said.rpartition("Traceback")[2]
    for words in wanted:
        assert words in after, said
    assert ("tf1 watch" in said) == (way != "no page knows it")


def test_a_program_does_not_inherit_what_the_tool_imports_from_the_future(
        tmp_path, monkeypatch, capsys):
    """Python's `compile` hands such imports on, unless it is told not to."""
    (tmp_path / "old.py").write_text("def f(x: int): pass\nprint(f.__annotations__)\n")
    tool = "from __future__ import annotations\n" + (
        ROOT / "legacy" / "tf1tools" / "watch" / "command.py").read_text("utf-8")
    path = ROOT / "legacy" / "tf1tools" / "watch" / "command.py"
    names = {"__name__": "watch", "__file__": str(path)}
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    exec(compile(tool, "watch.py", "exec"), names)
    names["run_as_main"](tmp_path / "old.py")
    assert capsys.readouterr().out == "{'x': <class 'int'>}\n"
