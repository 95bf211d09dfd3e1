"""The page of a film: tanks that fill and drain, a slider over time, a sentence."""

import base64
import html
import json
from collections.abc import Iterable, Sequence

from helpers.queues.doctor import Diagnosis, QueueState
from helpers.queues.film_drawing import (
    ACROSS,
    LEFT,
    STYLE,
    TANK,
    WORDS,
    height_of,
    in_order,
    out_of,
    rim,
    still,
    threads_of,
)
from helpers.queues.film_frames import Frame

_PAGE_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 8px; }
svg { display: block; max-width: 100%; height: auto; }
.controls { display: flex; gap: 8px; align-items: center; max-width: 736px; }
input { flex: 1; }
p { margin: 6px 0; max-width: 736px; }
"""

# Every column but `t` holds differences from moment to moment: they are short.
_SCRIPT = """
const sum = column => { let s = 0; return column.map(d => s += d); };
const all = o => Array.isArray(o) ? sum(o)
  : Object.fromEntries(Object.entries(o).map(([k, v]) => [k, all(v)]));
const t = all(film.t), steps = all(film.steps), queues = film.queues.map(all);
const threads = film.waits.map(all);
const one = (root, name) => root.querySelector(name);
const tanks = [...document.querySelectorAll("g.queue")];
const lines = [...document.querySelectorAll("text.wait")];
function draw(k) {
  const said = [(t[k] / 1000).toFixed(2) + " s, steps done: " + steps[k]];
  document.getElementById("clock").textContent = said[0];
  tanks.forEach((tank, i) => {
    const q = queues[i], size = q.size[k], top = film.tops[i];
    const word = film.words[q.word[k]];
    const high = Math.min(1, size / top) * film.tank;
    tank.setAttribute("class", "queue " + word);
    one(tank, ".item").setAttribute("height", high);
    one(tank, ".item").setAttribute("y", film.tank - high);
    one(tank, ".size").textContent = size + film.of[i];
    one(tank, ".word").textContent = word;
    one(tank, ".moved").textContent =
      q.into[k] < 0 ? "" : "in " + q.into[k] + ", out " + q.out[k];
    one(tank, ".alive").textContent =
      q.alive[k] < 0 ? film.idle[i] : "threads: " + q.alive[k];
    const x = film.left + (film.across * k) / Math.max(1, t.length - 1);
    one(tank, ".now").setAttribute("x1", x);
    one(tank, ".now").setAttribute("x2", x);
    if (word === "starves") said.push("'" + film.names[i] + "' starves");
  });
  const waits = threads.filter(w => w.what[k] > 0)
    .map(w => [w.since[k], film.phrases[w.what[k]]]).sort((a, b) => a[0] - b[0])
    .map(([since, what]) => what + " since " + (since / 1000).toFixed(2) + " s");
  lines.forEach((line, i) => { line.textContent = waits[i] || ""; });
  return said.concat(waits).join(". ") + ".";
}
const slider = document.getElementById("moment");
const play = document.getElementById("play");
function show() {
  const words = draw(Number(slider.value));
  slider.setAttribute("aria-valuetext", words);
}
let timer = null;
function stop() { clearInterval(timer); timer = null; play.textContent = "Play"; }
play.addEventListener("click", () => {
  if (timer) return stop();
  if (slider.value === slider.max) slider.value = 0;
  play.textContent = "Stop";
  timer = setInterval(() => {
    slider.value = Number(slider.value) + 1;
    show();
    if (slider.value === slider.max) stop();
  }, 50);
});
slider.addEventListener("input", show);
document.getElementById("controls").hidden = false;
show();
"""


def summary(
    queues: Sequence[QueueState], frames: Sequence[Frame], diagnosis: Diagnosis | None
) -> str:
    """Returns in a few sentences what a film shows.

    Args:
      queues: as they were at the start.
      frames: of the film.
      diagnosis: the doctor's, at the end.
    """
    last = frames[-1]
    plural = "" if len(queues) == 1 else "s"
    lines = [f"{len(queues)} queue{plural} over {last.seconds:.1f} s, "
             f"steps done: {last.steps}."]
    root = diagnosis.starving if diagnosis else None
    if root is not None:
        lines.append(f"At the end '{root.name}' starves: {root.why}.")
    elif diagnosis is not None:
        lines.append("At the end no queue starves.")
    waits = [f"{wait} since {wait.since:.2f} s." for wait in in_order(last)[:1]]
    lines += [text[0].upper() + text[1:] for text in waits]
    return " ".join(lines)


def page(queues: Sequence[QueueState], frames: Sequence[Frame], sentence: str) -> str:
    """Returns a film as one HTML page that asks for nothing outside itself.

    Args:
      queues: as they were at the start.
      frames: of the film.
      sentence: says what the film shows.
    """
    data = json.dumps(_data(queues, frames), separators=(",", ":"))
    data = data.replace("<", "\\u003c")  # no name of a queue ends the script
    text = html.escape(sentence)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Film of the queues</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>{STYLE}{_PAGE_STYLE}</style></head><body>
{still(queues, frames, sentence)}
<div class="controls" id="controls" hidden><button id="play">Play</button>
<label for="moment">Time</label>
<input type="range" id="moment" min="0" max="{len(frames) - 1}" \
value="{len(frames) - 1}"></div>
<p><b>Film:</b> {text}</p>
<script>const film = {data};{_SCRIPT}</script></body></html>"""


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
    last = still(queues, frames, sentence, style=f"<style>{STYLE}</style>")
    picture = base64.b64encode(last.encode()).decode()
    text = html.escape(sentence)
    source = html.escape(page(queues, frames, sentence))
    return (
        f'<img class="film-still" alt="{text}" '
        f'src="data:image/svg+xml;base64,{picture}">'
        "<style>.film-still { display: none; }</style>"
        f'<iframe title="Film of the queues" sandbox="allow-scripts" '
        f'style="width: 100%; max-width: 780px; border: 0;" '
        f'height="{height_of(queues, frames) + 130}" srcdoc="{source}"></iframe>'
    )


def _data(queues: Sequence[QueueState], frames: Sequence[Frame]) -> dict:
    """Returns what the script draws: columns of differences, one value a moment."""
    threads = sorted({wait.who for frame in frames for wait in frame.waits})
    phrases = ["", *sorted({str(wait) for frame in frames for wait in frame.waits})]
    numbers = {phrase: k for k, phrase in enumerate(phrases)}
    waits = []
    for who in threads:
        found = [next((w for w in frame.waits if w.who == who), None)
                 for frame in frames]
        waits.append({
            "what": _steps_of(numbers[str(w)] if w else 0 for w in found),
            "since": _steps_of(_last_known(1000 * w.since if w else None
                                           for w in found)),
        })
    return {
        "t": _steps_of(round(1000 * frame.seconds) for frame in frames),
        "steps": _steps_of(frame.steps for frame in frames),
        "queues": [_columns(place, frames) for place in range(len(queues))],
        "waits": waits, "phrases": phrases, "words": WORDS, "tank": TANK,
        "left": LEFT, "across": ACROSS,
        "names": [queue.name for queue in queues],
        "tops": [rim(queue, place, frames) for place, queue in enumerate(queues)],
        "of": [out_of(queue) for queue in queues],
        "idle": [threads_of(queue, None) for queue in queues],
    }


def _columns(place: int, frames: Sequence[Frame]) -> dict[str, list[int]]:
    """Returns what changes of one queue."""
    moved = [frame.moved[place] or (-1, -1) for frame in frames]
    alive = [frame.alive[place] for frame in frames]
    return {
        "size": _steps_of(frame.sizes[place] for frame in frames),
        "word": _steps_of(WORDS.index(frame.words[place]) for frame in frames),
        "into": _steps_of(into for into, _ in moved),
        "out": _steps_of(out for _, out in moved),
        "alive": _steps_of(-1 if count is None else count for count in alive),
    }


def _steps_of(values: Iterable[float]) -> list[int]:
    """Returns the first value, then the differences."""
    whole = [round(value) for value in values]
    return [new - old for old, new in zip([0, *whole], whole, strict=False)]


def _last_known(values: Iterable[float | None]) -> list[float]:
    """Returns the values, with the one before in place of None."""
    filled, known = [], 0.0
    for value in values:
        known = known if value is None else value
        filled.append(known)
    return filled
