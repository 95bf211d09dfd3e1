"""Exercise check of lesson 03c: lines of text files, enqueued in groups."""

import tempfile
from pathlib import Path

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.attempts import QUEUES
from helpers.checks.claims import answering, drawn, exercise, tensor
from helpers.checks.lesson_03a import delivers, feeding, initialise

_PATIENCE = 10  # seconds for one run


@exercise(
    "Exercise 1: lines in groups",
    "`counted_pipeline` in the section `Hand over in groups` has the reader, the "
    "header, and the group. Change the number of epochs and of threads.",
    "Begin with `names = tf1.train.string_input_producer(files, num_epochs=1)`. The "
    "runner is `tf1.train.QueueRunner(queue, [put] * threads)`, and the batch is "
    "`queue.dequeue_up_to(batch_size)`. The reader and the queue are left to do.",
    about={
        "delivers every item exactly once": (
            "If a header was delivered, remember that each file has one. If lines "
            "come too often, limit the number of epochs."),
        "fills the queue of batches with the requested number of threads": (
            "A queue runner starts one thread for each op in its list. Your list has "
            "another length than `threads`."),
        "hands over a whole group in one run": (
            "The size of a group and the size of a batch are two numbers. The reader "
            "takes up to `group` lines in one run, and the queue takes all of them at "
            "once."),
        "runs without an error": (
            "If the queue has no room for a whole group, an enqueue op waits forever. "
            "If the data ended before the first step, the last batch has to be "
            "allowed to be smaller."),
    },
    adds=(*QUEUES, "iterators"),
)
def check_lines_in_groups(attempt):
    """Checks that a pipeline delivers all lines and enqueues whole groups."""
    with tempfile.TemporaryDirectory() as folder:
        for texts, batch_size, threads, group in drawn(_case, 12):
            files = [f"{folder}/{number}.txt" for number in range(len(texts))][::-1]
            for file, text in zip(files, texts, strict=True):
                ends = len(text) % 2 or not text[-1]
                Path(file).write_text("\n".join(text) + "\n" * ends)
            lines = [line.encode() for text in texts for line in text[1:]]
            case = (f"files of {[len(text) - 1 for text in texts]} lines, batches of "
                    f"{batch_size}, {threads} threads, groups of {group}")
            with tf.Graph().as_default() as graph, answering(case):
                batch = attempt(list(files), batch_size, threads, group)
            yield tensor("returns a tensor of strings", tf.string, batch, case)
            yield from delivers(graph, batch, lines, batch_size, threads, case)
            due = {min(group, len(text) - 1) for text in texts if len(text) > 1}
            due |= {min(group, len(text)) - 1 for text in texts}  # the header read, too
            with answering(case):
                handed = _by_one_run(graph, batch)
            yield ("hands over a whole group in one run", handed in due,
                   f"{case}: one run handed over {handed} lines, but expected "
                   f"{' or '.join(map(str, sorted(due)))}")


def _case(rng, size):
    """Draws text files with header lines, a batch size, and a group size."""
    group = [1, 2, 3, 15, 40][size % 5]  # 40 is more than the default capacity
    texts = []
    for number in range(1 + size // 3):
        few = rng.integers(0, 2 * group + 1) if number else group + size
        lines = rng.choice(["name", "", " row", "row", "1,2"], few)  # they repeat
        texts.append(["name", *lines.tolist()])
    return texts, int(rng.integers(1, 8)), 1 + size % 3, group


def _by_one_run(graph, batch):
    """Returns the number of lines that one run of an enqueue op adds."""
    with graph.as_default(), tf1.Session() as session:
        queue, puts = feeding(batch)
        size = tf.raw_ops.QueueSizeV2(handle=queue)
        runners = graph.get_collection(tf1.GraphKeys.QUEUE_RUNNERS)
        coord = tf1.train.Coordinator()
        initialise(session)
        threads = [thread for runner in runners
                   if not any(runner.enqueue_ops[0] is put for put in puts)
                   for thread in runner.create_threads(session, coord, True, True)]
        try:
            session.run(puts[0], options=tf1.RunOptions(timeout_in_ms=1000 * _PATIENCE))
            return int(session.run(size))
        except tf.errors.DeadlineExceededError:
            raise ValueError(
                f"One run of the enqueue op did not end within {_PATIENCE} s. Check "
                "that the queue has room for a whole group."
            ) from None
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=60)
