"""Draws the animated picture of a hanging input pipeline for the README.

    python -m tools.film_picture

The picture shows a recording of a real pipeline of three queues. No thread fills the
third queue. Two queues therefore fill up, the third stays empty, and the step waits
forever.
"""

import time

import tensorflow.compat.v1 as tf1

from helpers import lesson, svg
from helpers.files import ROOT, whole_file
from helpers.language import DARK, INK, LOST, SOFT, TOWER
from helpers.queues import Film, film

PICTURE = ROOT / "docs" / "film.svg"
SECONDS, FRAMES = 3.2, 16  # duration of the recording, and number of frames
PLAYED = 6.0  # seconds for one loop of the animation
CAPACITY = {"names": 8, "lines": 6, "batches": 4}
WIDE, HIGH, TANK = 620, 190, 90
COLOURS = {"ink": INK, "soft": SOFT, "bad": LOST, "a": TOWER[0]}


def pipeline(graph: tf1.Graph) -> tuple[tf1.Tensor, list[tf1.train.QueueRunner]]:
    """Builds three queues in a row, of which the last is never filled.

    Returns:
      The batch that a step dequeues, and the runners to start. The runner of the queue
      `batches` is not among them.
    """
    with graph.as_default():
        queues = {name: tf1.FIFOQueue(capacity, tf1.string, [[]], name=name)
                  for name, capacity in CAPACITY.items()}

        def slowly(seconds: float, item: tf1.Tensor) -> tf1.Tensor:
            waits = tf1.py_func(lambda: time.sleep(seconds), [], [])
            with tf1.control_dependencies([waits]):
                return tf1.identity(item)

        name = slowly(0.12, tf1.constant(b"a.txt"))
        line = slowly(0.26, queues["names"].dequeue())
        runners = [
            tf1.train.QueueRunner(queues["names"], [queues["names"].enqueue(name)]),
            tf1.train.QueueRunner(queues["lines"], [queues["lines"].enqueue(line)])]
        queues["batches"].enqueue(queues["lines"].dequeue(), name="never_started")
        return queues["batches"].dequeue(), runners


def recorded() -> Film:
    """Records one training step that waits for a batch until its timeout."""
    graph = tf1.Graph()
    batch, runners = pipeline(graph)
    with tf1.Session(graph=graph) as session, film(session) as movie:
        coordinator = tf1.train.Coordinator()
        threads = [thread for runner in runners for thread in runner.create_threads(
            session, coordinator, daemon=True, start=True)]
        try:
            session.run(batch, options=tf1.RunOptions(
                timeout_in_ms=int(1000 * SECONDS)))
        except tf1.errors.DeadlineExceededError:
            coordinator.request_stop()
    coordinator.join(threads)
    return movie


def drawing(movie: Film) -> str:
    """Returns a recording of queues as an SVG that animates itself."""
    last = movie.frames[-1].seconds
    moments = [min(movie.frames, key=lambda frame: abs(frame.seconds - at))
               for at in (last * k / (FRAMES - 1) for k in range(FRAMES))]
    names = [queue.name for queue in movie.queues]
    order = sorted(range(len(names)), key=lambda k: list(CAPACITY).index(names[k]))
    frames = "".join(
        f"<g class='frame' style='animation-delay:{PLAYED * (k / FRAMES - 1):.2f}s'>"
        f"{_moment(moment, names, order)}</g>" for k, moment in enumerate(moments))
    tanks = "".join(_tank(names[k], place) for place, k in enumerate(order))
    arrows = "".join(svg.text(178 + 200 * place, 92, "→", "soft")
                     for place in range(len(order) - 1))
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDE} {HIGH}' "
            f"width='{WIDE}' height='{HIGH}' role='img'><title>A training that hangs"
            f"</title><style>{_style()}</style>{tanks}{arrows}{frames}</svg>\n")


def _tank(name: str, place: int) -> str:
    """Draws the static part of a queue: its name and its outline."""
    x = 24 + 200 * place
    return svg.text(x, 26, name, "ink", font_weight="bold") + svg.box(
        x, 40, 70, TANK, "ink", fill="none", stroke="currentColor", stroke_width=1.5)


def _moment(moment, names: list[str], order: list[int]) -> str:
    """Draws one frame: the fill levels, their numbers and the state of the step."""
    pieces = []
    for place, k in enumerate(order):
        x, size, capacity = 24 + 200 * place, moment.sizes[k], CAPACITY[names[k]]
        high = TANK * size / capacity
        word = "empty" if size == 0 else "full" if size == capacity else ""
        starves = word == "empty" and place == len(order) - 1
        pieces += [svg.box(x, 40 + TANK - high, 70, high, "a", fill_opacity=0.5),
                   svg.text(x + 80, 62, f"{size} of {capacity}", "ink"),
                   svg.text(x + 80, 122, word, "bad" if starves else "soft",
                            font_weight="bold")]
    pieces.append(svg.text(24, 168, f"{moment.seconds:.1f} s: steps done: "
                           f"{moment.steps}; the step waits for 'batches'", "ink"))
    return "".join(pieces)


def _style() -> str:
    """Returns the CSS with colours for light and dark pages, and the animation."""
    light = "".join(f".{name}{{color:{c}}}" for name, c in COLOURS.items())
    dark = "".join(f".{name}{{color:{DARK[c]}}}"
                   for name, c in COLOURS.items())
    share = 100 / FRAMES
    return (f"text{{font:15px sans-serif;fill:currentColor}}{light}"
            f"@media(prefers-color-scheme:dark){{{dark}}}"
            f".frame{{visibility:hidden;animation:flip {PLAYED}s steps(1) infinite}}"
            f".frame:last-child{{visibility:visible}}"  # without animations
            f"@keyframes flip{{0%{{visibility:visible}}{share:.3f}%,100%"
            f"{{visibility:hidden}}}}@media(prefers-reduced-motion:reduce){{.frame{{animation:none}}}}")


if __name__ == "__main__":
    lesson.begin("film_picture")
    with whole_file(PICTURE) as draft:
        draft.write_text(drawing(recorded()), encoding="utf-8")
