"""The drawing of a film: a tank per queue, who waits below, a slider over time."""

import base64
import html
from collections.abc import Sequence

from helpers.queues.doctor import QueueState
from helpers.queues.film_frames import Frame
from helpers.slider import embedded, slider_page

_SHOWN = 60  # frames that a page holds, evenly chosen
_TANK = 64  # the height of a tank, in pixels
_WIDE, _HIGH = 184, 112  # of one queue's place
_ROW = 4  # queues side by side
_LINE = 20  # pixels of a line of text
_MOST_WAITS = 8  # lines of those who wait

_STYLE = """
svg { font: 13px system-ui, sans-serif; fill: #1a1a1a; background: #ffffff;
  display: block; max-width: 100%; height: auto; }
.tank { fill: none; stroke: #1a1a1a; stroke-width: 1.5; }
.item { fill: #4c8ed9; }
.mark { fill: none; }
.starves .mark { fill: url(#stripes); }
.full .mark { fill: url(#dots); }
.closed .tank { stroke-dasharray: 2 4; }
.word { font-weight: bold; }
.starves .word { fill: #b02a00; }
.stripe { stroke: #d9480f; stroke-width: 4; }
.dot { fill: #1a1a1a; }
@media (prefers-color-scheme: dark) {
  svg { fill: #ececec; background: #16191d; }
  .tank { stroke: #ececec; }
  .starves .word { fill: #ff9b70; }
  .dot { fill: #ececec; }
}
"""
_PATTERNS = (
    '<defs><pattern id="stripes" width="9" height="9" patternTransform="rotate(45)" '
    'patternUnits="userSpaceOnUse"><line class="stripe" x1="0" y1="0" x2="0" y2="9"/>'
    '</pattern><pattern id="dots" width="8" height="8" patternUnits="userSpaceOnUse">'
    '<circle class="dot" cx="3" cy="3" r="1.3"/></pattern></defs>'
)


def page(queues: Sequence[QueueState], frames: Sequence[Frame], sentence: str) -> str:
    """Returns a film as one HTML page that asks for nothing outside itself.

    Args:
      queues: as they were at the start.
      frames: of the film.
      sentence: says what the film shows.
    """
    step = -(-len(frames) // _SHOWN)
    shown = frames[::-1][::step][::-1]  # the last one always
    size = _size(queues, frames)
    drawn = [_svg(queues, frames, frame, size) for frame in shown]
    labels = [_label(queues, frame) for frame in shown]
    return slider_page(drawn, labels, title="time", alt=f"Film: {sentence}",
                       style=_STYLE, before=_PATTERNS_ONCE, start=len(shown) - 1)


def in_notebook(
    queues: Sequence[QueueState], frames: Sequence[Frame], sentence: str
) -> str:
    """Returns a film as the output of a cell: the page in a frame of its own.

    JupyterLab takes script, style and frames out of a notebook that it does not
    trust, as other viewers do. What is left then is the last moment as a picture.

    Args:
      queues: as they were at the start.
      frames: of the film.
      sentence: says what the film shows.
    """
    size = _size(queues, frames)
    style = f"<style>{_STYLE}</style>{_PATTERNS}"
    last = _svg(queues, frames, frames[-1], size, style)
    picture = base64.b64encode(last.encode()).decode()
    still = (f'<img alt="{html.escape(sentence)}" '
             f'src="data:image/svg+xml;base64,{picture}">')
    return embedded(page(queues, frames, sentence), still=still,
                    alt="Film of the queues", height=size[1] + 170)


# Each drawing of a page uses them; a document needs them once.
_PATTERNS_ONCE = f'<svg width="0" height="0" aria-hidden="true">{_PATTERNS}</svg>'


def _svg(queues, frames, frame: Frame, size: tuple[int, int], style: str = "") -> str:
    """Draws one moment."""
    width, height = size
    tanks = []
    for place, queue in enumerate(queues):
        x, y = 8 + place % _ROW * _WIDE, 8 + place // _ROW * _HIGH
        tank = _tank(queue, place, frames, frame)
        tanks.append(f'<g transform="translate({x},{y})">{tank}</g>')
    base = height - _LINE * _most_waits(frames)
    lines = [
        f'<text class="wait" x="8" y="{base + k * _LINE}">{html.escape(str(wait))} '
        f"since {wait.since:.2f} s</text>"
        for k, wait in enumerate(frame.waits[:_MOST_WAITS])
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{style}{"".join(tanks)}{"".join(lines)}</svg>'
    )


def _tank(queue: QueueState, place: int, frames, frame: Frame) -> str:
    """Draws one queue."""
    size, word = frame.sizes[place], frame.words[place]
    top = max(1, queue.capacity, *(frame.sizes[place] for frame in frames))
    high = size / top * _TANK
    out_of = "" if queue.capacity < 0 else f" of {queue.capacity}"
    name = queue.name if len(queue.name) <= 16 else queue.name[:15] + "…"
    return (
        f'<g class="queue {word}"><title>{html.escape(queue.name)}</title>'
        f'<rect class="item" width="50" y="{_TANK - high:.1f}" height="{high:.1f}"/>'
        f'<rect class="mark" width="50" height="{_TANK}"/>'
        f'<rect class="tank" width="50" height="{_TANK}"/>'
        f'<text x="58" y="12">{html.escape(name)}</text>'
        f'<text x="58" y="30">{size}{out_of}</text>'
        f'<text class="word" x="58" y="48">{word}</text></g>'
    )


def _label(queues: Sequence[QueueState], frame: Frame) -> str:
    """Says one moment in a line."""
    said = [f"{frame.seconds:.2f} s, steps done: {frame.steps}"]
    said += [f"'{queue.name}' starves"
             for queue, word in zip(queues, frame.words, strict=True)
             if word == "starves"]
    return ". ".join(said) + "."


def _size(queues: Sequence[QueueState], frames: Sequence[Frame]) -> tuple[int, int]:
    """Returns width and height in pixels, the same for all frames."""
    rows = -(-len(queues) // _ROW)
    width = max(min(_ROW, len(queues)) * _WIDE, 560)
    return width, rows * _HIGH + _most_waits(frames) * _LINE


def _most_waits(frames: Sequence[Frame]) -> int:
    return min(_MOST_WAITS, max(len(frame.waits) for frame in frames))
