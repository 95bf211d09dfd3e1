"""Interactive figure of lesson 02b: the timeline of ops by number of threads."""

import time

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import svg, tracing
from helpers.explore import Frame

SIZE = (720, 240)
WORK = ("waits 5 ms", "large product", "small product")
_LINKS, _LEFT, _RIGHT, _HIGH, _TOP = 4, 70, 16, 34, 12


def _chains(work: str, chained: str) -> tuple[tf.Graph, list]:
    """Builds a graph with a chain of ops on each of four CPU devices."""
    def waits(value):
        time.sleep(0.005)
        return value

    size = 400 if work == "large product" else 4
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        ends: list = []
        for index in range(4):
            first = ends[-1:] if chained == "one after another" else []
            with tf.device(f"/cpu:{index}"), tf.control_dependencies(first):
                y = w = tf.identity(tf.random.normal([size, size], stddev=0.05))
                for link in range(_LINKS):
                    if work == "waits 5 ms":
                        y = tf.numpy_function(waits, [y], tf.float32)
                    else:
                        y = tf.matmul(y, w, name=f"link_{index}_{link}")
                ends.append(y.op)
    return graph, ends


def traced(threads: int, work: str, chained: str) -> tuple[tf1.RunMetadata, float]:
    """Runs the chains with the given number of inter-op threads.

    Args:
      threads: Number of threads in the session's own pool.
      work: Kind of op in the four links of a chain, one of `WORK`.
      chained: `"apart"` for independent chains. With `"one after another"`, each chain
        waits for the one before.

    Returns:
      A traced step, and the duration in milliseconds of the shortest of twenty steps
      without tracing.

    Taught in lesson 02b, 'When did it run?'.
    """
    graph, ends = _chains(work, chained)
    config = tf1.ConfigProto(
        device_count={"CPU": 4, "GPU": 0}, inter_op_parallelism_threads=threads,
        use_per_session_threads=True)
    with tf1.Session(graph=graph, config=config) as session:
        session.run(ends)
        took = []
        for _ in range(20):
            begun = time.perf_counter()
            session.run(ends)
            took.append(time.perf_counter() - begun)
        traces = [tracing.run_traced(session, ends)[1] for _ in range(5)]
    best = min(traces, key=lambda trace: max(
        row.start + row.duration for row in tracing.intervals(trace)))
    return best, 1000 * min(took)


class Lanes:
    """Callable that draws timelines, each compared with a single-threaded run."""

    def __init__(self):
        self._alone: dict[tuple[str, str], tuple[tf1.RunMetadata, float]] = {}

    def __call__(self, threads: int, work: str, chained: str) -> Frame:
        """Draws a timeline for each device. The arguments are those of `traced`."""
        if (work, chained) not in self._alone:
            self._alone[work, chained] = traced(1, work, chained)
        measure, alone = self._alone[work, chained]
        trace, took = (measure, alone) if threads == 1 else (
            traced(threads, work, chained))
        span = max(_end(measure), _end(trace))
        bars = [_bar(row, span) for row in tracing.intervals(trace)
                if row.type in ("MatMul", "PyFunc")]
        faster = "" if threads == 1 else (
            f", {alone / took:.1f} times as fast as with one thread")
        devices = tracing.devices_at_once(trace)
        says = (f"{_rounded(took)} ms per step{faster}, with up to {devices} "
                f"device{'s' * (devices > 1)} at work at once.")
        return Frame([_lanes(), "".join(bars) + _axis(span)], says)


def _rounded(milliseconds: float) -> str:
    return f"{milliseconds:.2f}" if milliseconds < 10 else f"{milliseconds:.0f}"


def _end(trace: tf1.RunMetadata) -> float:
    return max(row.start + row.duration for row in tracing.intervals(trace)) / 1000


def _x(milliseconds: float, span: float) -> float:
    return _LEFT + milliseconds / span * (SIZE[0] - _LEFT - _RIGHT)


def _lanes() -> str:
    return "".join(
        svg.text(_LEFT - 10, _TOP + (_HIGH + 10) * k + 22, f"CPU {k}", "abcd"[k],
                 text_anchor="end")
        + svg.box(_LEFT, _TOP + (_HIGH + 10) * k, SIZE[0] - _LEFT - _RIGHT, _HIGH,
                  "soft", fill_opacity=0.1) for k in range(4))


def _bar(row: tracing.Interval, span: float) -> str:
    device, start = int(row.device[-1]), _x(row.start / 1000, span)
    wide = max(1.5, _x((row.start + row.duration) / 1000, span) - start)
    return svg.box(start, _TOP + (_HIGH + 10) * device + 3, wide, _HIGH - 6,
                   "abcd"[device], fill_opacity=0.5, stroke="currentColor")


def _axis(span: float) -> str:
    step = 10 ** np.floor(np.log10(span))
    step = next(step * n for n in (0.2, 0.5, 1, 2) if span / (step * n) <= 6)
    ticks = np.arange(0, span, step)
    foot = _TOP + 4 * (_HIGH + 10)
    return "".join(svg.text(_x(t, span), foot + 16, f"{t:g}", "soft",
                            text_anchor="middle") for t in ticks) + svg.text(
        _LEFT, foot + 36, "milliseconds since the first op (a bar is an op, including "
        "its waiting)")
