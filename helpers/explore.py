"""Interactive figures with precomputed frames, which need no kernel or network.

    def make_frame(capacity, reader):
        ...                               # runs TensorFlow
        return Frame([axes, line], "The step waits 38 % of the time.")

    explore(make_frame, "What does a larger queue buy?", size=(720, 300),
            capacity=[4, 16, 64], reader=["slow", "fast"]).show()

A control is a group of radio buttons, or a slider if it has more than six values. A
frame is one SVG in layers, which `helpers.svg` writes, and a layer that several frames
share is stored only once. The figure runs in a sandboxed `iframe`. Where scripts are
removed (on GitHub, or in a notebook that is not trusted), a still picture and a table
of all settings appear instead.

Lesson 01a shows the first one.
"""

import base64
import html
import itertools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from IPython.display import display
from tqdm import tqdm

from helpers.language import DARK, INK, LOST, PAPER, SOFT, TOWER

_MOST_BYTES = 130_000  # per output, for the notebook's size in Git
_MOST_SETTINGS, _MOST_CONTROLS = 30, 3  # limits for a reader's patience
_RADIOS = 6  # a control with more values is a slider
_ABOVE = 190  # pixels of question, controls, caption, and table header
_LOWEST = 360  # pixels, so that narrow figures need no scrollbar

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
_PAGE = """<!doctype html>
<html lang='en'><head><meta charset='utf-8'><title>{question}</title><style>{style}
body {{ font: 14px/1.45 system-ui, sans-serif; color: var(--ink); margin: 0;
  background: var(--paper) }}
main {{ padding: 10px 14px; box-sizing: border-box; height: 100vh;
  display: flex; flex-direction: column; gap: 9px }}
main > * {{ flex: none }} h1 {{ font-size: 16px; margin: 0 }}
form {{ display: flex; flex-wrap: wrap; gap: 7px 20px; align-items: center }}
fieldset {{ border: 0; margin: 0; padding: 0; min-width: 0; display: flex;
  flex-wrap: wrap; align-items: center }}
legend {{ float: left; padding: 0 8px 0 0; color: var(--soft) }}
fieldset label {{ border: 1px solid var(--soft); margin-left: -1px; cursor: pointer;
  position: relative }}
fieldset span {{ display: block; padding: 2px 11px }}
fieldset input {{ position: absolute; inset: 0; margin: 0; opacity: 0 }}
.range {{ display: flex; flex: 1 1 300px; gap: 8px; align-items: center }}
[type=range] {{ flex: 1; min-width: 120px; max-width: 480px }}
.range span {{ min-width: 4em }}
input:checked + span {{ background: var(--a); color: var(--paper) }}
input:focus-visible + span, :focus-visible {{ outline: 3px solid var(--b);
  outline-offset: 2px }}
button {{ font: inherit }} output {{ min-height: 1.45em; font-weight: 600 }}
#stage {{ flex: 1 1 0; min-height: 80px; width: 100%; max-width: {widest}px }}
td, th {{ padding: 1px 14px 1px 0; text-align: left; font-size: 13px }}
@media (forced-colors: active) {{ input:checked + span {{ background: Highlight }} }}
</style></head><body><main><h1>{question}</h1><form>{controls}
<button type='reset'>reset</button></form><output id='says' aria-live='polite'>
</output><svg id='stage' viewBox='0 0 {width} {height}' role='img'
preserveAspectRatio='xMinYMin'>{layers}</svg><details><summary>All settings in words
</summary><table></table></details></main><script>
const {{controls, values, frames}} = {data}, form = document.querySelector("form");
const stage = document.getElementById("stage"), layers = [...stage.children];
const table = document.querySelector("table");
function row(cells, kind) {{
  const line = table.insertRow();
  for (const words of cells)
    line.appendChild(document.createElement(kind)).textContent = words;
}}
row([...controls, "what happens"], "th");
frames.forEach(([shown, says], at) => {{
  const cells = values.map((of, k) => of[Math.floor(at / values.slice(k + 1).reduce(
    (product, next) => product * next.length, 1)) % of.length]);
  row([...cells, says], "td");
}});
function show() {{
  const chosen = new FormData(form);
  const at = values.reduce((sum, of, k) => sum * of.length + +chosen.get("k" + k), 0);
  const [shown, says] = frames[at];
  stage.replaceChildren(...shown.map(k => layers[k]));  // in the order of the frame
  stage.setAttribute("aria-label", says);
  document.getElementById("says").textContent = says;
  for (const range of document.querySelectorAll("[type=range]")) {{
    const value = values[+range.name.slice(1)][+range.value];
    range.setAttribute("aria-valuetext", value);
    range.nextElementSibling.textContent = value;
  }}
}}
form.addEventListener("input", show);
form.addEventListener("reset", () => setTimeout(show));
show();
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
    """

    question: str
    controls: dict[str, list]
    frames: dict[tuple, Frame]
    start: tuple
    size: tuple[int, int]

    def page(self) -> str:
        """Returns the figure as a self-contained HTML document."""
        every = itertools.chain.from_iterable(f.layers for f in self.frames.values())
        number = {layer: k for k, layer in enumerate(dict.fromkeys(every))}
        data = {"controls": list(self.controls),
                "values": [list(map(str, options))
                           for options in self.controls.values()],
                "frames": [[[number[layer] for layer in frame.layers], frame.says]
                           for frame in self.frames.values()]}
        return _PAGE.format(
            question=html.escape(self.question), style=_COLOURS,
            width=self.size[0], height=self.size[1], widest=1.4 * self.size[0],
            controls="\n".join(map(self._control, range(len(self.controls)))),
            layers="".join(map("<g>{}</g>".format, number)),
            data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"))

    def show(self) -> None:
        """Displays the figure in a notebook."""
        display({"text/html": self._repr_html_(),
                 "text/plain": f"Interactive figure: {self.question}"}, raw=True)

    def _repr_html_(self) -> str:
        (width, height), frame = self.size, self.frames[self.start]
        question, says = html.escape(self.question), html.escape(frame.says)
        svg = (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height="
               f"'{height}' viewBox='0 0 {width} {height}'><style>{_COLOURS}"
               f"</style>{''.join(frame.layers)}</svg>")
        still = base64.b64encode(svg.encode()).decode()
        # `html.escape` would also escape `<`, and enlarge the page by up to 66 %.
        inside = self.page().replace("&", "&amp;").replace('"', "&quot;")
        return (
            f"<div class='explore-still'><p>{question} (A still: trust this notebook "
            f"to use the controls.)</p><img alt=\"{says}\" width='{width}' "
            f"src='data:image/svg+xml;base64,{still}'>{self._table()}</div>"
            "<style>.explore-still { display: none }</style>"
            f"<iframe title='{question}' sandbox='allow-scripts' width='100%' "
            f"height='{max(height + _ABOVE, _LOWEST)}' style='border: 1px solid #8888' "
            f"srcdoc=\"{inside}\"></iframe>")

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
    start: dict | None = None, names: dict | None = None, **controls: list,
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
      **controls: Values of each argument of `make_frame`, in order.

    Returns:
      The figure; call `show` to display it.

    Raises:
      ValueError: If there are more than three controls, thirty settings, or 130,000
        bytes, or if two values of a control, or two controls, have the same text.
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
        for each in tqdm(settings, leave=False)
    }
    made = Explorable(
        question, {shown[name]: of for name, of in controls.items()}, frames,
        tuple(str((start or {}).get(name, of[0])) for name, of in controls.items()),
        size)
    if (there := len(made._repr_html_().encode())) > _MOST_BYTES:
        raise ValueError(
            f"the page has {there:,} bytes of {_MOST_BYTES:,} that are allowed. Use "
            "fewer settings, fewer points, or layers that several frames share."
        )
    return made
