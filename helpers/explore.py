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

from helpers.explore_page import AROUND, COLOURS, NARROW, PAGE

_MOST_BYTES = 130_000  # per output, for the notebook's size in Git
_MOST_SETTINGS, _MOST_CONTROLS = 30, 3  # limits for a reader's patience
_RADIOS = 6  # a control with more values is a slider
_SMALLEST = 12  # pixels: on a phone, a drawing scrolls before its text gets smaller
_LETTER = 13  # pixels of a text in a frame, without a size of its own
_WIDEST, _WIDEST_ALONE = 1.4, 1.7  # scale of a drawing in a notebook, and on a page
_CHOICE = r"data-control='([^']*)' data-value='([^']*)'"  # as `svg.choice` writes it
_COLUMNS = {"narrow": 330, "middle": 620, "wide": 900}  # pixels inside such containers

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
        return PAGE.format(
            question=html.escape(self.question), style=COLOURS, width=width,
            height=height, least=least, lowest=round(least * height / width),
            widest=round(_WIDEST_ALONE * width), narrow=NARROW,
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
                values = list(map(str, self.controls.get(name, [])))
                if value not in values:
                    raise ValueError(
                        f"Unknown value {value!r} for control {name!r}. Choose one of "
                        f"{values}."
                    )

    def _repr_html_(self) -> str:
        (width, height), frame = self.size, self.frames[self.start]
        question, says = html.escape(self.question), html.escape(frame.says)
        svg = (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height="
               f"'{height}' viewBox='0 0 {width} {height}'><style>{COLOURS}"
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
            f"<style>{AROUND}</style><div class='explore' style='{above}; "
            f"--least: {self._least()}px; --ratio: {height / width:.3f}; "
            f"max-width: {_WIDEST * width:.0f}px'><iframe title='{question}' "
            "sandbox='allow-scripts' width='100%' "
            f"height='{height + self._above(_COLUMNS['middle'])}' "
            f"style='border: 1px solid #8888' srcdoc=\"{inside}\"></iframe></div>")

    def _above(self, room: int) -> int:
        """Estimates the height of everything but the drawing in a column of a width."""
        def lines(text: str, letter: float) -> int:
            return math.ceil(len(text) * letter / room)

        narrow, rows, used = room < NARROW, 1, 0.0
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
                + 29 * (self._least() > room)
                + 29 * any(re.search(_CHOICE, layer) for layer in self._layers()))

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
                    f"Texts of controls and settings must be unique, but {each!r} "
                    f"occurs {count} times."
                )
    settings = list(itertools.product(*controls.values()))
    if len(controls) > _MOST_CONTROLS or len(settings) > _MOST_SETTINGS:
        raise ValueError(
            f"An interactive figure supports at most {_MOST_CONTROLS} controls and "
            f"{_MOST_SETTINGS} settings, but got {len(controls)} controls and "
            f"{len(settings)} settings."
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
            f"The interactive figure is too large: {there / 1e3:.0f} kB, but the limit "
            f"is {_MOST_BYTES / 1e3:.0f} kB. Use fewer settings or fewer points."
        )
    return made
