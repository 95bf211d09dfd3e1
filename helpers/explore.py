"""Interactive figures with precomputed frames, which need no kernel or network.

    def make_frame(capacity, reader):
        ...                               # runs TensorFlow
        return Frame([axes, line], "The step waits 38 % of the time.")

    explore(make_frame, "What does a larger queue buy?", size=(720, 300),
            capacity=[4, 16, 64], reader=["slow", "fast"]).show()

A control is a group of radio buttons, or a slider if it has more than six values. With
`play`, a button runs through the values of one control, such as a time. A part of a
drawing can choose a value when it is clicked: see `helpers.svg.choice`.

A frame is one SVG in layers, which `helpers.svg` writes, and a layer that several
frames share is stored only once. The figure runs in a sandboxed `iframe`. Where scripts
are removed (on GitHub, or in a notebook that is not trusted), a still picture and a
table of all settings appear instead.

Lesson 01a shows the first one.
"""

import base64
import html
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from IPython.display import display
from tqdm import tqdm

from helpers.language import DARK, INK, LOST, PAPER, SOFT, TOWER

_MOST_BYTES = 130_000  # per output, for the notebook's size in Git
_MOST_SETTINGS, _MOST_CONTROLS = 30, 3  # limits for a reader's patience
_RADIOS = 6  # a control with more values is a slider
_SMALLEST = 12  # pixels: on a phone, a drawing scrolls before its text gets smaller
_LETTER = 13  # pixels of a text in a frame, without a size of its own
_WIDEST, _WIDEST_ALONE = 1.4, 1.7  # scale of a drawing in a notebook, and on a page
_NARROW, _WIDE = 560, 900  # pixels: containers from which another layout begins
_COLUMNS = {"narrow": 330, "middle": 620, "wide": 900}  # pixels inside such containers

_CLASSES = {"ink": INK, "paper": PAPER, "soft": SOFT, "a": TOWER[0], "b": TOWER[1],
            "c": TOWER[2], "d": TOWER[3], "bad": LOST}
_COLOURS = """:root, svg {{ color-scheme: light dark; {} }}
@media (prefers-color-scheme: dark) {{ :root, svg {{ {} }} }}
""".format(*("; ".join(f"--{name}: {of(colour)}" for name, colour in _CLASSES.items())
             for of in (str, DARK.get))) + """\
svg { font: 13px system-ui, sans-serif; fill: var(--ink); background: var(--paper) }
.ink { color: var(--ink) } .soft { color: var(--soft) } .a { color: var(--a) }
.b { color: var(--b) } .c { color: var(--c) } .d { color: var(--d) }
.bad { color: var(--bad) }
"""
# The height of the frame follows its width, so that the drawing fills it.
_AROUND = f"""\
.explore-still {{ display: none }}
.explore {{ container-type: inline-size }}
.explore iframe {{ --above: var(--middle); box-sizing: border-box;
  height: calc(max(100cqw - 30px, var(--least)) * var(--ratio) + var(--above)) }}
@container (max-width: {_NARROW}px) {{ .explore iframe {{ --above: var(--narrow) }} }}
@container (min-width: {_WIDE}px) {{ .explore iframe {{ --above: var(--wide) }} }}
"""
_CHOICE = r"data-control='([^']*)' data-value='([^']*)'"  # as `svg.choice` writes it
_PAGE = """<!doctype html>
<html lang='en'><head><meta charset='utf-8'><title>{question}</title><style>{style}
body {{ font: 14px/1.45 system-ui, sans-serif; color: var(--ink); margin: 0;
  background: var(--paper) }}
main {{ padding: 10px 14px; box-sizing: border-box; height: 100vh;
  max-width: {widest}px; display: flex; flex-direction: column; gap: 9px }}
main > * {{ flex: none }} h1 {{ font-size: 16px; margin: 0 }}
form, form div {{ display: flex; flex-wrap: wrap; gap: 7px 20px; align-items: center }}
form div {{ gap: 7px }}
fieldset {{ border: 0; margin: 0; padding: 0; min-width: 0; display: flex;
  flex-wrap: wrap; align-items: center }}
legend {{ float: left; padding: 0 8px 0 0; color: var(--soft) }}
fieldset label {{ border: 1px solid var(--soft); margin: 0 0 -1px -1px; cursor: pointer;
  position: relative }}
fieldset span {{ display: block; padding: 2px 11px }}
fieldset input {{ position: absolute; inset: 0; margin: 0; opacity: 0 }}
.range {{ display: flex; flex: 1 1 300px; gap: 8px; align-items: center }}
[type=range] {{ flex: 1; min-width: 120px; max-width: 480px }}
.range span {{ min-width: 4em }}
input:checked + span {{ background: var(--a); color: var(--paper) }}
input:focus-visible + span, :focus-visible {{ outline: 3px solid var(--b);
  outline-offset: 2px }}
button {{ font: inherit }} #play {{ min-width: 6em }} [hidden] {{ display: none }}
output {{ min-height: 1.45em; font-weight: 600 }}
#view {{ flex: 1 0 {lowest}px; position: relative; overflow: auto hidden }}
#stage {{ position: absolute; width: 100%; height: 100%; min-width: {least}px }}
#wider {{ margin: 0; color: var(--soft) }}
[data-control] {{ cursor: pointer }} [data-control]:hover {{ opacity: 0.7 }}
@media (max-width: {narrow}px) {{
  form {{ flex-direction: column; align-items: stretch }}
  legend, .range {{ width: 100%; flex: none }} fieldset span {{ padding: 4px 11px }} }}
td, th {{ padding: 1px 14px 1px 0; text-align: left; font-size: 13px }}
@media (forced-colors: active) {{ input:checked + span {{ background: Highlight }} }}
</style></head><body><main><h1>{question}</h1><form>{controls}
<div><button type='button' id='play' hidden></button><button type='reset'>reset</button>
</div></form><output id='says' aria-live='polite'></output>
<div id='view'><svg id='stage' viewBox='0 0 {width} {height}' role='img'
preserveAspectRatio='xMinYMin'>{layers}</svg></div><p id='wider' hidden>Scroll the
drawing sideways to see all of it.</p><details><summary>All settings in words
</summary><table></table></details></main><script>
const {{controls, values, play, frames}} = {data};
const form = document.querySelector("form"), find = id => document.getElementById(id);
const stage = find("stage"), view = find("view"), says = find("says");
const layers = [...stage.children], table = document.querySelector("table");
function row(cells, kind) {{
  const line = table.insertRow();
  for (const words of cells)
    line.appendChild(document.createElement(kind)).textContent = words;
}}
row([...controls, "what happens"], "th");
frames.forEach(([shown, words], at) => {{
  const cells = values.map((of, k) => of[Math.floor(at / values.slice(k + 1).reduce(
    (product, next) => product * next.length, 1)) % of.length]);
  row([...cells, words], "td");
}});
const chosen = k => +new FormData(form).get("k" + k);
function choose(k, n) {{
  const field = form.elements["k" + k];
  if (field.length) field[n].checked = true; else field.value = n;
  show();
}}
function show() {{
  const at = values.reduce((sum, of, k) => sum * of.length + chosen(k), 0);
  const [shown, words] = frames[at];
  stage.replaceChildren(...shown.map(k => layers[k]));  // in the order of the frame
  stage.setAttribute("aria-label", words);
  says.textContent = words;
  for (const range of document.querySelectorAll("[type=range]")) {{
    const value = values[+range.name.slice(1)][+range.value];
    range.setAttribute("aria-valuetext", value);
    range.nextElementSibling.textContent = value;
  }}
}}
function fit() {{  // room for the longest sentence, so that the drawing stays in place
  says.style.minHeight = "";
  const heights = frames.map(([shown, words]) => {{
    says.textContent = words;
    return says.offsetHeight;
  }});
  says.style.minHeight = Math.max(...heights) + "px";
  show();
  const wider = view.scrollWidth > view.clientWidth + 1;
  find("wider").hidden = !wider;
  if (wider) view.tabIndex = 0; else view.removeAttribute("tabindex");
}}
const time = controls.indexOf(play), button = find("play");
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
let timer = 0, paused = false;
function stop(pauses) {{
  clearInterval(timer);
  timer = 0;
  paused = pauses;
  button.textContent = still ? "next" : "\u25b6 play";
  says.setAttribute("aria-live", "polite");
}}
function next() {{
  const last = values[time].length - 1;
  choose(time, still && chosen(time) === last ? 0 : Math.min(chosen(time) + 1, last));
  if (timer && chosen(time) === last) stop(false);
}}
button.addEventListener("click", () => {{
  if (still) return next();
  if (timer) return stop(true);
  if (!paused || chosen(time) === values[time].length - 1) choose(time, 0);
  says.setAttribute("aria-live", "off");  // it would speak without a pause
  timer = setInterval(next, Math.min(1200, Math.max(120, 8000 / values[time].length)));
  button.textContent = "\u23f8 pause";
}});
button.hidden = time < 0;
form.addEventListener("input", () => {{ stop(true); show(); }});
form.addEventListener("reset", () => setTimeout(() => {{ stop(false); show(); }}));
stage.addEventListener("click", event => {{
  const part = event.target.closest("[data-control]");
  if (!part) return;
  const k = controls.indexOf(part.dataset.control);
  stop(true);
  choose(k, values[k].indexOf(part.dataset.value));
}});
new ResizeObserver(fit).observe(view);
stop(false);
fit();
</script></body></html>"""


@dataclass(frozen=True)
class Frame:
    """SVG layers and caption of an interactive figure for one setting.

    Attributes:
      layers: SVG elements, the lowest first. Parts that do not depend on a control
        should be a layer of their own.
      says: Sentence with the number that answers the question.
    """

    layers: Sequence[str]
    says: str


@dataclass
class Explorable:
    """Interactive figure with one precomputed frame per setting.

    Attributes:
      question: Heading of the figure.
      controls: Values of each control by its label.
      frames: Frame of each setting, a tuple of the values as strings. The last control
        changes fastest.
      start: Setting that is shown first, in the same form.
      size: Width and height of the frames in SVG units.
      play: Label of the control whose values the play button runs through, or "".
    """

    question: str
    controls: dict[str, list]
    frames: dict[tuple, Frame]
    start: tuple
    size: tuple[int, int]
    play: str = ""

    def page(self) -> str:
        """Returns the figure as a self-contained HTML document."""
        number = {layer: k for k, layer in enumerate(self._layers())}
        data = {"controls": list(self.controls),
                "values": [list(map(str, options))
                           for options in self.controls.values()],
                "play": self.play,
                "frames": [[[number[layer] for layer in frame.layers], frame.says]
                           for frame in self.frames.values()]}
        (width, height), least = self.size, self._least()
        return _PAGE.format(
            question=html.escape(self.question), style=_COLOURS, width=width,
            height=height, least=least, lowest=round(least * height / width),
            widest=round(_WIDEST_ALONE * width), narrow=_NARROW,
            controls="\n".join(map(self._control, range(len(self.controls)))),
            layers="".join(map("<g>{}</g>".format, number)),
            data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"))

    def _layers(self) -> list[str]:
        """Returns all layers once, in the order in which the frames use them."""
        every = itertools.chain.from_iterable(f.layers for f in self.frames.values())
        return list(dict.fromkeys(every))

    def _least(self) -> int:
        """Returns the width at which the smallest text of the drawing is legible."""
        sizes = re.findall(r" font-size='([\d.]+)'", "".join(self._layers()))
        return round(self.size[0] * _SMALLEST / min([_LETTER, *map(float, sizes)]))

    def show(self) -> None:
        """Displays the figure in a notebook."""
        display({"text/html": self._repr_html_(),
                 "text/plain": f"Interactive figure: {self.question}"}, raw=True)

    def refuse_unknown_choices(self) -> None:
        """Raises a ValueError if a part of a drawing chooses what no control has."""
        for layer in self._layers():
            for name, value in re.findall(_CHOICE, layer):
                name, value = html.unescape(name), html.unescape(value)
                if value not in map(str, self.controls.get(name, [])):
                    raise ValueError(
                        f"explore: a part of the drawing chooses {value!r} for "
                        f"{name!r}, but no control has this value."
                    )

    def _repr_html_(self) -> str:
        (width, height), frame = self.size, self.frames[self.start]
        question, says = html.escape(self.question), html.escape(frame.says)
        svg = (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height="
               f"'{height}' viewBox='0 0 {width} {height}'><style>{_COLOURS}"
               f"</style>{''.join(frame.layers)}</svg>")
        still = base64.b64encode(svg.encode()).decode()
        # `html.escape` would also escape `<`, and enlarge the page by up to 66 %.
        inside = self.page().replace("&", "&amp;").replace('"', "&quot;")
        above = "; ".join(f"--{name}: {self._above(room)}px"
                          for name, room in _COLUMNS.items())
        return (
            f"<div class='explore-still'><p>{question} (A still: trust this notebook "
            f"to use the controls.)</p><img alt=\"{says}\" width='{width}' "
            f"src='data:image/svg+xml;base64,{still}'>{self._table()}</div>"
            f"<style>{_AROUND}</style><div class='explore' style='{above}; "
            f"--least: {self._least()}px; --ratio: {height / width:.3f}; "
            f"max-width: {_WIDEST * width:.0f}px'><iframe title='{question}' "
            "sandbox='allow-scripts' width='100%' "
            f"height='{height + self._above(_COLUMNS['middle'])}' "
            f"style='border: 1px solid #8888' srcdoc=\"{inside}\"></iframe></div>")

    def _above(self, room: int) -> int:
        """Estimates the height of everything but the drawing in a column of a width."""
        def lines(text: str, letter: float) -> int:
            return math.ceil(len(text) * letter / room)

        narrow, rows, used = room < _NARROW, 1, 0.0
        widths = [(8 * len(name) + 8, [7.5 * len(str(value)) + 24 for value in values])
                  for name, values in self.controls.items()]
        widths.append((80 * bool(self.play) + 60, []))
        for name, values in widths:
            own = name + (320 if len(values) > _RADIOS else sum(values))
            if narrow:
                rows += 1 + math.ceil(min(sum(values), 7 * room) / room * 1.2)
            elif used and used + 20 + own > room:
                rows, used = rows + math.ceil(own / room), own
            else:
                rows, used = rows + math.ceil(own / room) - 1, used + 20 + own
        if narrow:
            rows -= 2
        caption = max(lines(frame.says, 8) for frame in self.frames.values())
        return (76 + 23 * lines(self.question, 9) + 33 * rows + 20 * caption
                + 29 * (self._least() > room))

    def _table(self) -> str:
        rows = [[*self.controls, "what happens"],
                *([*setting, frame.says] for setting, frame in self.frames.items())]
        lines = "<tr>".join("".join(f"<td>{html.escape(str(cell))}" for cell in row)
                            for row in rows).replace("<td>", "<th>", len(rows[0]))
        return ("<details><summary>All settings in words</summary><table><tr>"
                f"{lines}</table></details>")

    def _control(self, k: int) -> str:
        name, values = list(self.controls.items())[k]
        start = list(map(str, values)).index(self.start[k])
        name = html.escape(name)
        if len(values) > _RADIOS:
            return (f"<label class='range'>{name} <input type='range' name='k{k}' "
                    f"min='0' max='{len(values) - 1}' value='{start}'> <span></span>"
                    "</label>")
        return f"<fieldset><legend>{name}</legend>" + "".join(
            f"<label><input type='radio' name='k{k}' value='{n}'"
            f"{' checked' * (n == start)}><span>{html.escape(str(value))}</span>"
            "</label>" for n, value in enumerate(values)) + "</fieldset>"


def explore(
    make_frame: Callable[..., Frame], question: str, *, size: tuple[int, int],
    start: dict | None = None, names: dict | None = None, play: str = "",
    **controls: list,
) -> Explorable:
    """Computes an interactive figure with one frame per combination of settings.

    All TensorFlow code runs during this call, so the finished figure needs no kernel.

    Args:
      make_frame: Function that is called once per setting, with one keyword per
        control.
      question: Question that the reader can answer by using a control.
      size: Width and height of the frames in SVG units.
      start: Initial values by control. Default: the first value of each control.
      names: Labels by control, if they differ from the names of the arguments.
      play: Control that stands for time, so that a button plays its values in order.
      **controls: Values of each argument of `make_frame`, in order.

    Returns:
      The figure; call `show` to display it.

    Raises:
      ValueError: If there are more than three controls, thirty settings, or 130,000
        bytes, if two values of a control, or two controls, have the same text, or if
        a part of a drawing chooses a value that no control has.
    """
    shown = {name: (names or {}).get(name, name) for name in controls}
    for words in (list(shown.values()), *(map(str, of) for of in controls.values())):
        for each, count in Counter(words).items():
            if count > 1:
                raise ValueError(
                    f"{each!r} occurs {count} times, so a reader could not tell the "
                    "settings apart. Use different texts."
                )
    settings = list(itertools.product(*controls.values()))
    if len(controls) > _MOST_CONTROLS or len(settings) > _MOST_SETTINGS:
        raise ValueError(
            f"explore: the number of controls is {len(controls)}, and of settings "
            f"{len(settings)}. For a reader's patience, use at most {_MOST_CONTROLS} "
            f"controls and {_MOST_SETTINGS} settings."
        )
    frames = {
        tuple(map(str, each)): make_frame(**dict(zip(controls, each, strict=True)))
        for each in tqdm(settings, leave=False, disable=None)  # only in a terminal
    }
    made = Explorable(
        question, {shown[name]: of for name, of in controls.items()}, frames,
        tuple(str((start or {}).get(name, of[0])) for name, of in controls.items()),
        size, shown.get(play, ""))
    made.refuse_unknown_choices()
    if (there := len(made._repr_html_().encode())) > _MOST_BYTES:
        raise ValueError(
            f"the page has {there:,} bytes of {_MOST_BYTES:,} that are allowed. Use "
            "fewer settings, fewer points, or layers that several frames share."
        )
    return made
