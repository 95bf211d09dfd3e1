"""Interactive figure of lesson 13a: concurrent updates of one variable."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import svg
from helpers.explore import Frame

SIZE = (720, 185)
_WIDE, _HIGH, _LEFT, _TOP = 118, 40, 120, 8


def till_frame(way: str, order: str) -> Frame:
    """Draws threads that update one variable in a given order of steps.

    Each step is a `run` of its own in one session, so the order is certain.

    Args:
      way: `"read, then write"`, `"assign_add"`, or `"with a lock"`. With a lock, the
        thread that begins takes the lock, and the others wait until it has written.
      order: The thread that takes each step, such as `"0 1 0 1"`. The first step of a
        thread reads, and its second step writes. `assign_add` does both in the second.

    Taught in lesson 13a, 'The update that gets lost'.
    """
    turns = [int(thread) for thread in order.split()]
    threads = sorted(set(turns))
    if sorted(turns) != sorted(threads * 2):
        raise ValueError(
            "Each thread must have exactly two turns, as in '0 1 0 1', but got "
            f"{order!r}."
        )
    if way == "with a lock":  # a thread that has begun finishes first
        turns = [thread for thread in dict.fromkeys(turns) for _ in range(2)]
    steps, total = _pay(way == "assign_add", turns)
    lost = len(threads) - total
    coins = {0: "no coin is lost", 1: "1 coin is lost"}.get(
        int(lost), f"{lost:g} coins are lost")
    says = (f"{way[0].upper()}{way[1:]}, in the order {' '.join(map(str, turns))}: "
            f"the till contains {total:g} at the end, so {coins}.")
    return Frame([_lanes(threads), _drawn(steps, threads, total, lost)], says)


def _pay(at_once: bool, turns: list[int]) -> tuple[list, float]:
    """Runs the steps of all threads and records the value after each of them."""
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
    words = f"✗ {lost:g} lost" if lost else "✓ none lost"
    drawn.append(svg.text(x + 8, _y(len(threads)) + 26, words,
                          "bad" if lost else "ink", font_weight="bold", font_size=16))
    return "".join(drawn)
