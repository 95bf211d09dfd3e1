"""Threads that pay into one till, in an order that you choose: lesson 13a's page."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import svg
from helpers.explore import Frame

SIZE = (720, 185)
_WIDE, _HIGH, _LEFT, _TOP = 118, 40, 120, 8


def till_frame(way: str, order: str) -> Frame:
    """Pays 1 from each thread, one step of a thread after the other.

    Each step is a run of its own in one session, so the order is certain.

    Args:
      way: `"read, then write"`, `"assign_add"`, or `"with a lock"`: a thread that
        begins takes the lock, and the others wait until it has written.
      order: whose turn it is, such as `"0 1 0 1"`; the first turn of a thread reads,
        the second writes. `assign_add` does both in the thread's second turn.

    Taught in lesson 13a, 'The update that gets lost'.
    """
    turns = [int(thread) for thread in order.split()]
    threads = sorted(set(turns))
    if sorted(turns) != sorted(threads * 2):
        raise ValueError(f"order {order!r}: each thread has two turns, no more")
    if way == "with a lock":  # who has begun goes on; the next one begins then
        turns = [thread for thread in dict.fromkeys(turns) for _ in range(2)]
    steps, total = _pay(way == "assign_add", turns)
    lost = len(threads) - total
    says = (f"{way}, so {' '.join(map(str, turns))}: {total:g} in the till, "
            + (f"{lost:g} lost." if lost else "nothing is lost."))
    return Frame([_lanes(threads), _drawn(steps, threads, total, lost)], says)


def _pay(at_once: bool, turns: list[int]) -> tuple[list, float]:
    """Runs the turns; returns thread, words and the till's value after each."""
    with tf.Graph().as_default(), tf1.Session() as session:
        till = tf1.get_variable("till", [], initializer=tf.zeros_initializer())
        new = tf1.placeholder(tf.float32, [])
        read, write, add = till.read_value(), till.assign(new), till.assign_add(1.0)
        session.run(till.initializer)
        steps: list[tuple] = []
        seen: dict[int, float] = {}
        for thread in turns:
            if thread not in seen:
                seen[thread] = 0.0 if at_once else float(session.run(read))
                words = "" if at_once else f"reads {seen[thread]:g}"
            elif at_once:
                session.run(add)
                words = "assign_add"
            else:
                session.run(write, {new: seen[thread] + 1})
                words = f"writes {seen[thread] + 1:g}"
            steps.append((thread, words, session.run(till)))
    return steps, float(steps[-1][2])


def _y(row: int) -> float:
    return _TOP + row * (_HIGH + 18)


def _lanes(threads: list[int]) -> str:
    names = [f"thread {thread}" for thread in threads] + ["in the till"]
    return "".join(svg.text(_LEFT - 14, _y(row) + 25, name, "ink", text_anchor="end")
                   + svg.box(_LEFT, _y(row), 720 - _LEFT - 4, _HIGH, "soft",
                             fill_opacity=0.1)
                   for row, name in enumerate(names))


def _drawn(steps: list, threads: list[int], total: float, lost: float) -> str:
    drawn, wide = [], min(_WIDE, (720 - _LEFT - 8) / (len(steps) + 1))
    for k, (thread, words, value) in enumerate(steps):
        x, row = _LEFT + 4 + k * wide, threads.index(thread)
        css = "abcd"[row % 4]
        if words:
            drawn += [svg.box(x, _y(row), wide - 8, _HIGH, css, fill_opacity=0.3,
                              stroke="currentColor"),
                      svg.text(x + wide / 2 - 4, _y(row) + 25, words, "ink",
                               text_anchor="middle")]
        drawn.append(svg.text(x + wide - 8, _y(len(threads)) + 26, f"{value:g}", "ink",
                              text_anchor="end", font_size=16))
    x = _LEFT + 4 + len(steps) * wide
    words = f"✗ {lost:g} lost" if lost else "✓ all there"
    drawn.append(svg.text(x + 8, _y(len(threads)) + 26, words,
                          "bad" if lost else "ink", font_weight="bold", font_size=16))
    return "".join(drawn)
