"""Draws a film as an interactive figure with one tank per queue."""

from collections.abc import Sequence

from helpers import svg
from helpers.explore import Explorable, Frame
from helpers.queues.diagnosis import QueueState
from helpers.queues.film_frames import Moment

_SHOWN = 60  # moments per figure, evenly spaced
_TANK = 64  # the height of a tank, in pixels
_HIGH = 124  # height of the area of one queue, in pixels
_NARROWEST, _WIDEST = 560, 760  # width in pixels, unless a name is wider
_LETTER = 7.4  # maximum width of a letter in pixels
_LINE = 20  # pixels of a line of text
_MOST_WAITS = 8  # lines about waiting threads

# The outline of a tank by the queue's state: colour class, width, and dashes.
_OUTLINES = {
    "starves": ("bad", 3, "7 4"), "full": ("ink", 3, ""), "closed": ("soft", 2, "2 4"),
    "flows": ("ink", 1.5, ""),
}


def as_page(
    queues: Sequence[QueueState], frames: Sequence[Moment], heading: str
) -> Explorable:
    """Returns a film as an interactive figure with a slider for the time.

    The slider starts at the last moment.

    Args:
      queues: States of the queues at the start.
      frames: Frames of the film.
      heading: Heading of the figure.
    """
    step = -(-len(frames) // _SHOWN)
    shown = {f"{each.seconds:.2f} s": each for each in frames[::-1][::step][::-1]}
    wide = 16 + max(110, _LETTER * max(len(queue.name) for queue in queues))
    row = max(1, int(_WIDEST // wide))  # queues side by side
    high = -(-len(queues) // row) * _HIGH
    tops = [max(1, queue.capacity, *(each.sizes[k] for each in frames))
            for k, queue in enumerate(queues)]

    def drawn(moment: Moment) -> Frame:
        tanks = [_tank(queue, moment.sizes[k], tops[k], moment.words[k],
                       8 + k % row * wide, 16 + k // row * _HIGH)
                 for k, queue in enumerate(queues)]
        lines = [svg.text(8, high + 14 + k * _LINE, words)
                 for k, words in enumerate(moment.waiting()[:_MOST_WAITS])]
        return Frame([*tanks, "".join(lines)], _says(queues, moment))

    lines = [words for moment in shown.values() for words in moment.waiting()]
    most = min(_MOST_WAITS, max(len(moment.waits) for moment in shown.values()))
    width = max(wide * min(row, len(queues)), _NARROWEST,
                _LETTER * max(map(len, lines), default=0))
    return Explorable(
        heading, {"time": list(shown)},
        {(label,): drawn(moment) for label, moment in shown.items()},
        (next(reversed(shown)),), (int(width), high + most * _LINE), "time")


def _tank(
    queue: QueueState, size: int, top: int, word: str, x: float, y: float
) -> str:
    """Draws one queue as a tank with its name, size, and state."""
    css, width, dashes = _OUTLINES[word]
    level, out_of = size / top * _TANK, f" of {queue.capacity}" * (queue.capacity >= 0)
    foot = y + 10 + _TANK
    return "".join([
        svg.text(x, y, queue.name),
        svg.box(x, foot - level, 50, level, "a", fill_opacity=0.5),
        svg.box(x, foot - _TANK, 50, _TANK, css, fill="none", stroke="currentColor",
                stroke_width=width, stroke_dasharray=dashes),
        svg.text(x + 60, foot - 42, f"{size}{out_of}"),
        svg.text(x + 60, foot - 20, word, css, font_weight="bold"),
    ])


def _says(queues: Sequence[QueueState], moment: Moment) -> str:
    """Describes one moment of a film in a sentence."""
    parts = [f"Steps done: {moment.steps}"]
    parts += [f"'{queue.name}' starves"
             for queue, word in zip(queues, moment.words, strict=True)
             if word == "starves"]
    return "; ".join([*parts, *moment.waiting()[:1]]) + "."
