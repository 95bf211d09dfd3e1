"""The drawing of a film: one moment as an SVG, whose parts the page's script moves."""

import html
from collections.abc import Sequence

from helpers.queues.doctor import QueueState
from helpers.queues.film_frames import Frame, Wait

WORDS = ("flows", "starves", "full", "closed")
TANK = 64  # the height of a tank, in pixels
LEFT, ACROSS = 0, 168  # where the line of the level begins, and its width
_DOWN = 26  # the height of that line
_WIDE, _HIGH = 184, 148  # of one queue's place
_ROW = 4  # queues side by side
_LINE = 20  # pixels of a line of text
_MAX_WAITS = 8  # lines of those who wait

STYLE = """
:root { color-scheme: light dark; }
svg, body { background: #ffffff; color: #1a1a1a; }
svg { font: 13px system-ui, sans-serif; fill: #1a1a1a; }
.tank { fill: none; stroke: #1a1a1a; stroke-width: 1.5; }
.kept { stroke: #1a1a1a; stroke-dasharray: 4 3; }
.item { fill: #4c8ed9; }
.mark { fill: none; }
.starves .mark { fill: url(#stripes); }
.full .mark { fill: url(#dots); }
.closed .tank { stroke-dasharray: 2 4; }
.starves .word { fill: #b02a00; font-weight: bold; }
.word { font-weight: bold; }
.stripe { stroke: #d9480f; stroke-width: 4; }
.dot { fill: #1a1a1a; }
.level { fill: none; stroke: #4c8ed9; stroke-width: 1.5; }
.now { stroke: #1a1a1a; }
@media (prefers-color-scheme: dark) {
  svg, body { background: #16191d; color: #ececec; }
  svg { fill: #ececec; }
  .tank, .kept, .now { stroke: #ececec; }
  .starves .word { fill: #ff9b70; }
  .dot { fill: #ececec; }
}
"""


def still(
    queues: Sequence[QueueState], frames: Sequence[Frame], sentence: str,
    style: str = "",
) -> str:
    """Draws the last moment as an SVG, whose parts the script changes.

    Args:
      queues: as they were at the start.
      frames: of the film.
      sentence: its text alternative.
      style: a style element, for where the page has none.
    """
    columns = min(_ROW, len(queues))
    width, height = max(columns * _WIDE, 560), height_of(queues, frames)
    last = frames[-1]
    tanks = [
        f'<g transform="translate({8 + place % _ROW * _WIDE}, '
        f'{40 + place // _ROW * _HIGH})">{_tank(queues[place], place, frames)}</g>'
        for place in range(len(queues))
    ]
    base = 40 + (len(queues) + _ROW - 1) // _ROW * _HIGH
    waits = [f"{wait} since {wait.since:.2f} s" for wait in in_order(last)]
    lines = [
        f'<text class="wait" x="8" y="{base + 10 + k * _LINE}">'
        f"{html.escape(''.join(waits[k:k + 1]))}</text>"
        for k in range(_most_waits(frames))
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-label="{html.escape(sentence)}">{style}{_PATTERNS}'
        f'<text id="clock" x="8" y="20">{last.seconds:.2f} s, steps done: '
        f'{last.steps}</text>{"".join(tanks)}{"".join(lines)}</svg>'
    )


_PATTERNS = (
    '<defs><pattern id="stripes" width="9" height="9" patternTransform="rotate(45)" '
    'patternUnits="userSpaceOnUse"><line class="stripe" x1="0" y1="0" x2="0" y2="9"/>'
    '</pattern><pattern id="dots" width="8" height="8" patternUnits="userSpaceOnUse">'
    '<circle class="dot" cx="3" cy="3" r="1.3"/></pattern></defs>'
)


def _tank(queue: QueueState, place: int, frames: Sequence[Frame]) -> str:
    """Draws one queue at the last moment, and its level over time."""
    last, top = frames[-1], rim(queue, place, frames)
    size, moved, alive = last.sizes[place], last.moved[place], last.alive[place]
    high = min(1.0, size / top) * TANK
    kept = TANK - queue.kept / top * TANK
    mark = f'<line class="kept" x1="-4" x2="54" y1="{kept:.1f}" y2="{kept:.1f}"/>'
    flowed = "" if moved is None else f"in {moved[0]}, out {moved[1]}"
    now = LEFT + ACROSS
    return (
        f'<g class="queue {last.words[place]}"><title>{html.escape(str(queue))}</title>'
        f'<rect class="item" width="50" y="{TANK - high:.1f}" height="{high:.1f}"/>'
        f'<rect class="mark" width="50" height="{TANK}"/>'
        f'<rect class="tank" width="50" height="{TANK}"/>{mark if queue.kept else ""}'
        f'<text x="58" y="10">{html.escape(_short(queue.name))}</text>'
        f'<text class="size" x="58" y="26">{size}{out_of(queue)}</text>'
        f'<text class="word" x="58" y="42">{last.words[place]}</text>'
        f'<text class="moved" x="58" y="58">{flowed}</text>'
        f'<text class="alive" x="0" y="{TANK + 16}">{threads_of(queue, alive)}</text>'
        f'<g transform="translate(0, {TANK + 24})"><polyline class="level" '
        f'points="{_level(place, top, frames)}"/><line class="now" x1="{now}" '
        f'x2="{now}" y1="-2" y2="{_DOWN + 2}"/></g></g>'
    )


def _level(place: int, top: int, frames: Sequence[Frame]) -> str:
    """Returns the points of a queue's level over time, a few hundred at most."""
    last = max(1, len(frames) - 1)
    chosen = range(0, len(frames), len(frames) // 200 + 1)
    return " ".join(
        f"{LEFT + ACROSS * k / last:.1f},"
        f"{_DOWN - _DOWN * min(1, frames[k].sizes[place] / top):.1f}"
        for k in [*chosen, len(frames) - 1]
    )


def in_order(frame: Frame) -> list[Wait]:
    """Returns who waits, longest first."""
    return sorted(frame.waits, key=lambda wait: (wait.since, wait.who))


def _most_waits(frames: Sequence[Frame]) -> int:
    return min(_MAX_WAITS, max(len(frame.waits) for frame in frames))


def height_of(queues: Sequence[QueueState], frames: Sequence[Frame]) -> int:
    """Returns the height of the drawing in pixels."""
    rows = (len(queues) + _ROW - 1) // _ROW
    return 40 + rows * _HIGH + _most_waits(frames) * _LINE


def rim(queue: QueueState, place: int, frames: Sequence[Frame]) -> int:
    """Returns how many items fill the tank to its rim."""
    if queue.capacity >= 0:
        return max(1, queue.capacity)
    return max([1, *(frame.sizes[place] for frame in frames)])


def out_of(queue: QueueState) -> str:
    """Returns what stands behind the number of items inside."""
    return "" if queue.capacity < 0 else f" of {queue.capacity}"


def _short(name: str) -> str:
    return name if len(name) <= 16 else name[:15] + "…"


def threads_of(queue: QueueState, alive: int | None) -> str:
    """Returns in words how many threads fill a queue."""
    if alive is not None:
        return f"threads: {alive}"
    return "never started" if queue.threads else "no runner"
