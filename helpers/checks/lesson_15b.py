"""Exercise check of lesson 15b: a training loop that leaves no thread behind."""

import threading

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, same
from helpers.errors import PipelineStalled
from helpers.queues.calls import InterruptibleCalls

_PATIENCE = 10  # seconds for one call of the answer
_KINDS = ("endless", "ends", "a thread fails", "the step fails")


@exercise(
    "Exercise 1: coord_fit",
    "A coordinator has a method for each of the four requirements: `should_stop`, "
    "`stop_on_exception`, `request_stop`, and `join`.",
    "Begin with `coord, trained = tf1.train.Coordinator(), 0` and `with "
    "session.graph.as_default():`, and start the queue runners in this block. What is "
    "left is the loop inside `with coord.stop_on_exception():`, and the two calls that "
    "end the threads.",
    about={
        "runs `train` as often as it should, and counts the steps": (
            "The training call belongs into the loop, and the loop ends when the steps "
            "are done or when the coordinator should stop. The end of the data is an "
            "OutOfRangeError, which is no failure."),
        "raises the error of the thread or the step that failed": (
            "An error that you catch yourself is lost. `coord.stop_on_exception()` "
            "keeps the first one, and `coord.join` raises it."),
        "leaves no thread behind": (
            "After the loop, and also after an error, ask the coordinator to stop, and "
            "pass the threads to its method `join`."),
    },
)
def check_coord_fit(attempt):
    """Checks a training loop on pipelines that end, fail, or never end."""
    for rng, size in drawn(lambda *pair: pair, 12):
        kind, steps = _KINDS[size % 4], int(rng.integers(size > 4, 9))
        rows = int(rng.integers(1, 30))
        graph, train, count, init = _pipeline(kind, rows)
        due, fails = steps, False
        if kind == "ends":
            due = min(steps, rows // 3)
        elif kind != "endless":
            steps, fails = rows + steps + 1, True
        case = f"{kind}: {rows} rows in batches of 3, {steps} steps"
        before = set(threading.enumerate())
        with tf1.Session(graph=graph) as session:
            session.run(init)
            with answering(case):
                found, error = _called(attempt, session, train, steps)
            left = [t for t in threading.enumerate() if t not in before]
            made = int(session.run(count))
        if fails:
            said = "no error" if error is None else f"{type(error).__name__}: {error}"
            yield ("raises the error of the thread or the step that failed",
                   "damaged row" in said, f"{case}: expected the InvalidArgumentError "
                   f"about a damaged row, but got {said:.120}")
        else:
            if error is not None:
                with answering(case):
                    raise error
            yield same("runs `train` as often as it should, and counts the steps",
                       [due, due], [found, made], f"{case}, returned and run")
        for thread in left:
            thread.join(2)
        yield ("leaves no thread behind", not left,
               f"{case}: {len(left)} threads were still running when the function "
               "ended. Join them")


def _called(attempt, session, train, steps):
    """Returns the result of a call and its error, one of which is `None`."""
    calls = InterruptibleCalls()
    try:
        return calls.call(_PATIENCE, attempt, session, train, steps), None
    except TimeoutError:
        raise PipelineStalled(f"The function did not end within {_PATIENCE} s. Stop "
                              "and join all its threads.") from None
    except Exception as error:
        return None, error
    finally:
        calls.end(1)


def _pipeline(kind, rows):
    """Builds a pipeline of batches of three, with a training step that is counted."""
    with tf.Graph().as_default() as graph:
        count = tf1.get_variable("count", [], tf.int64, tf1.zeros_initializer())
        numbers = tf1.train.range_input_producer(
            rows, num_epochs=1 if kind == "ends" else None, shuffle=False)
        row = numbers.dequeue()
        sound = tf1.debugging.Assert(
            tf.constant(kind != "a thread fails") | (row < rows - 1), ["damaged row"])
        with tf.control_dependencies([sound]):
            row = tf.identity(row)
        batch = tf1.train.batch([row], 3)
        sound = tf1.debugging.Assert(
            tf.constant(kind != "the step fails") | (count < rows), ["damaged row"])
        with tf.control_dependencies([batch, sound]):
            train = count.assign_add(1, read_value=False)
        init = [tf1.global_variables_initializer(), tf1.local_variables_initializer()]
    return graph, train, count, init
