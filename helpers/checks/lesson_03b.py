"""Exercise check of lesson 03b: diagnosis of a pipeline that runs no step."""

import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, same
from helpers.errors import PipelineStalled
from helpers.queues.calls import InterruptibleCalls

_PATIENCE = 30  # seconds for a whole pipeline, from its graph to the join
_CAUSES = ("local variables", "batch too large", "no data", "thread failed")


@exercise(
    "Exercise 1: why no step",
    "`first_step` returns the two answers that distinguish the causes.",
    "The first line is `raised, left = first_step(build)`.",
    "If a variable has no value, the error names it with `localhost/`, so the next "
    "line is `if \"localhost/\" in raised:`. The four answers are left to do.",
    about={
        "leaves no thread behind": (
            "Every way out of your function has to ask the coordinator to stop and to "
            "join the threads, before you return an answer."),
        "returns the right cause": (
            "The error of the step itself is always the same. Compare what `join` "
            "raises, and how many items are left, with the table in `OutOfRange at "
            "step 0`. Do not run any other init op than that of the author."),
    },
)
def check_why_no_step(attempt):
    """Checks the diagnosis of pipelines that fail before their first step."""
    with tempfile.TemporaryDirectory() as folder:
        for what, cause, build, built in drawn(partial(_broken, Path(folder)), 16):
            before = set(threading.enumerate())
            calls = InterruptibleCalls()
            with answering(what):
                try:
                    found = calls.call(_PATIENCE, attempt, build)
                except TimeoutError:
                    raise PipelineStalled(
                        f"The function did not end within {_PATIENCE} s. Stop and join "
                        "all its threads."
                    ) from None
                finally:
                    calls.end(1)
            yield same("calls `build` once", [what], built, what)
            yield same("returns the right cause", cause, found, what)
            left = [t for t in threading.enumerate() if t not in before]
            for thread in left:
                thread.join(2)
            yield ("leaves no thread behind", not any(t.is_alive() for t in left),
                   f"{what}: {len(left)} threads are still running. Join them")


def _broken(folder, rng, size):
    """Draws a broken pipeline and returns its description, cause, and builder."""
    cause, built = _CAUSES[size % 4], []
    batch_size = int(rng.integers(3, 9))
    lines = [f"{n},{n}" for n in rng.integers(-99, 99, batch_size + 4)]
    kind = ["csv", "table"][rng.integers(2)]
    init = tf1.local_variables_initializer
    if cause == "local variables":
        init = tf1.global_variables_initializer
        kind = ["csv", "matched", "table"][size // 4 % 3]
    elif cause == "batch too large":
        lines = lines[: rng.integers(1, batch_size)]
    elif cause == "no data":
        lines, kind = [], ["csv", "data set"][size // 4 % 2]
    else:
        kind = ["csv", "gone", "slow", "unsaved"][size // 4 % 4]
        lines[rng.integers(batch_size)] = ["one,2", "3", "4,5,6"][rng.integers(3)]
    path = folder / f"{size}.csv"
    if kind == "gone":
        path = folder / "epochs" / path.name  # no variable's name
    else:
        path.write_text("\n".join(lines))
    what = f"{kind}, {len(lines)} lines in batches of {batch_size}, {init.__name__}"

    def build():
        built.append(what)
        batch = _batch(kind, path, lines, batch_size)
        initial = init()
        if size > 5:  # a queue and a local variable that have no say
            aside = tf1.FIFOQueue(9, tf.int32, [[]], name="aside")
            initial = tf.group(initial, aside.enqueue(1))
            tf1.get_local_variable("spare", initializer=0)
        return batch, initial

    return what, cause, build, built


def _late(line):
    time.sleep(0.7)
    return line


def _batch(kind, path, lines, size):
    """Builds a pipeline of the given kind and returns its batch tensor."""
    if kind == "table":
        rows = tf1.train.range_input_producer(len(lines), num_epochs=1)
        return tf1.train.batch([rows.dequeue()], size)
    if kind == "slow":  # fails only after a while
        line = tf.reshape(tf1.py_func(_late, [lines[0]], tf.string), [])
        return tf1.train.batch([tf.io.decode_csv(line, [[0]] * 3)[0]], size)
    if kind == "unsaved":  # a NotFoundError that names neither file nor variable
        [value] = tf.raw_ops.RestoreV2(
            prefix=f"{path}.ckpt", tensor_names=["rows"], shape_and_slices=[""],
            dtypes=[tf.int32])
        return tf1.train.batch([tf.reshape(value, [])], size)
    if kind == "data set":
        iterator = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(0))
        return tf1.train.batch([iterator.get_next()], size)
    names, epochs = [str(path)], 1
    if kind == "matched":
        names, epochs = tf.identity(tf1.train.match_filenames_once(str(path))), None
    inbox = tf1.train.string_input_producer(names, epochs, name="inbox")
    columns = tf.io.decode_csv(tf1.TextLineReader().read(inbox)[1], [[0], [0]])
    queue = tf1.FIFOQueue(20, [tf.int32, tf.int32], [[], []], name="columns")
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(columns)]))
    return queue.dequeue_many(size)
