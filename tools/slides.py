"""Converts lessons to reveal.js slides that work offline.

    python3 course.py slides 03          # build/slides/03_queues_and_coordinators.html

Each section shows its heading, its first question or pitfall, and its first figure or
output. A slide shows headings, questions, pitfalls, lists, tables, code and outputs.
The other sentences become speaker notes (press S). Space and the arrow keys go to the
next step and skip none. If you add `?showNotes=true` to the address, the notes appear
next to the slide.
"""

import html
import itertools
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter

from helpers.files import ROOT, whole_file
from tools import book_sphinx
from tools import notebook as nb
from tools.cells import is_question, pitfalls_in, sections

FOLDER = ROOT / "build" / "slides"
SHOWN = re.compile(r"#|>|\||[-*] |\d+\. |```|.*\*\*Predict")
FILLS = re.compile(r"<(?:li|pre|img|iframe|table|blockquote|strong)\b")
HEADED = re.compile(r"<h[12]\b")
LOCAL_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
NOT_SHOWN = ("## Setup", "## Further reading")
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{base}</style>
<style media="(prefers-color-scheme: light)">{light}</style>
<style media="(prefers-color-scheme: dark)">{dark}</style>
<style>{own}</style></head>
<body><div class="reveal"><div class="slides">
{sections}
</div></div>
<script>{reveal}</script><script>{notes}</script>
<script>Reveal.initialize({{hash: true, slideNumber: "c/t", width: 1200, height: 800,
  margin: 0.05, transition: "none", navigationMode: "linear", plugins: [RevealNotes]}});
{fit}</script>
</body></html>
"""
STYLE = """
.reveal { font-size: 28px; }
.reveal .slides { text-align: left; }
.reveal h1, .reveal h2, .reveal h3 { text-transform: none; }
.reveal h1 { font-size: 2em; } .reveal h2 { font-size: 1.4em; }
.reveal pre { width: 100%; box-sizing: border-box; box-shadow: none;
  font-size: 0.7em; line-height: 1.3;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.5em 0; padding: 0.4em; }
.reveal div.highlight pre { background: #f8f8f8; color: #1f1f1f; }
.reveal pre.output { border-left: 4px solid currentColor; font-size: 0.65em; }
.reveal img { background: #fff; max-height: 16em; padding: 4px; }
@media (prefers-color-scheme: dark) { .reveal img { filter: brightness(0.82); } }
.reveal .explore { max-width: none !important; }
.reveal .explore iframe { max-height: 620px; }
.reveal .slides section .fragment { transition: none; }  /* else fit measures it late */
.reveal blockquote { width: auto; font-style: normal; }
.reveal table { font-size: 0.8em; }
.reveal svg.formula { overflow: visible; }
"""


# If a slide does not fit at 28 pixels, the font is reduced until it does.
FIT = """
function fit({currentSlide}) {
  const over = () => currentSlide.scrollHeight > 780
    || [...currentSlide.querySelectorAll('pre, table')].some(
      e => e.scrollWidth > 1204);
  for (let size = 28; size > 14 && over(); size--) {
    currentSlide.style.fontSize = `${size}px`;
  }
  Reveal.layout();
}
Reveal.on('ready', fit);
Reveal.on('slidechanged', fit);
"""


class Slide(NamedTuple):
    """HTML contents of one slide.

    Attributes:
      shown: Headings, questions, code and outputs.
      notes: Speaker notes.
    """

    shown: str
    notes: str


def text(source: str) -> Slide:
    """Converts a Markdown cell to a slide and moves its sentences to the notes."""
    paragraphs = re.split(r"\n\n(?![ \t])", LOCAL_LINK.sub(r"\1", source))
    task = source.startswith("## Exercise")  # it is for the class to read
    shown = [p for p in paragraphs if task or SHOWN.match(p)]
    notes = [p for p in paragraphs if p not in shown]
    if shown and shown[-1].startswith(">"):  # it announces hidden text
        shown[-1] = re.sub(r"(?<=[.*]) [^.*]*:$", "", shown[-1])
    if notes and shown and all(p.startswith("#") for p in shown):
        subject = next((p for p in notes if p.startswith("**You build")), notes[0])
        first = re.split(r"(?<=[.?!:]) (?=[A-Z`*])", subject)[0]
        if not first.endswith(":"):  # the text that it announces is hidden too
            shown = [*shown, first]
    return Slide(_html("\n\n".join(shown)), _html("\n\n".join(notes)))


def _html(source: str) -> str:
    """Converts Markdown to HTML and renders its formulas."""
    drawn = re.sub(r"(?<![\w`])\$([^$\n]+)\$(?![\w`])",
                   lambda match: book_sphinx.svg(match[1]), source)
    return re.sub(r"<a class=\"anchor-link\".*?</a>", "", markdown2html(drawn))


def code(cell: nbformat.NotebookNode, *, asked: bool = False) -> str:
    """Returns a code cell and its outputs as HTML, or only the figure if it has one.

    Args:
      cell: Code cell with its outputs.
      asked: Whether the outputs answer a question. If so, they appear in a second step.
    """
    interactive = "<iframe" in str(cell.outputs)  # it replaces code and text
    drawn = interactive or "image/png" in str(cell.outputs)
    program = "" if drawn else Highlight2HTML()(cell.source)
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            alt = html.escape(output.metadata.get("image/png", {}).get("alt", ""))
            source = f"data:image/png;base64,{data['image/png'].strip()}"
            parts.append(f'<img alt="{alt}" src="{source}">')
        elif "<iframe" in data.get("text/html", ""):
            parts.append(data["text/html"])
        elif not interactive:
            shown_text = output.get("text") or data.get("text/plain", "")
            if not shown_text.startswith("Figure: "):  # the caption repeats the alt
                parts.append('<pre class="output" tabindex="0">'
                             f"{html.escape(shown_text)}</pre>")
    shown = "\n".join(parts)
    return program + (f'<div class="fragment">{shown}</div>' if asked else shown)


def chosen(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Returns the cells of a lesson from which its slides are made.

    From each section, these are the cell with the heading, the first question or
    pitfall, and the first interactive figure, or else figure, or else output. A
    question also brings the code cell before it and the cell with its answer.
    """
    kept = []
    for section in sections(cells):
        asked = [c for c in section[1:] if is_question(c) or pitfalls_in(c)]
        seen = [c for c in section if c.get("outputs")]
        pages = [c for c in seen if "<iframe" in str(c.outputs)]
        figure = [c for c in seen if "image/png" in str(c.outputs)]
        answers = [c for c in seen if asked and is_question(asked[0])
                   and section.index(c) > section.index(asked[0])][:1]
        before = [a for a, b in itertools.pairwise(section)
                  if asked and b is asked[0] and a.cell_type == "code"
                  and not a.outputs]  # the question is about its results
        keep = [section[0], *before, *asked[:1], *answers,
                *(pages or figure or ([] if answers else seen))[:1]]
        kept += [c for c in section if any(c is k for k in keep)]
    return kept


def slides(cells: list[nbformat.NotebookNode]) -> list[list[Slide]]:
    """Returns the slides of a lesson in columns, with one column per section.

    Args:
      cells: All cells of a lesson.
    """
    columns, asked, before = [[]], False, ""
    for cell in chosen(cells):
        kind, before = before, cell.cell_type
        if cell.cell_type == "code":
            joins = columns[-1] and kind != "code"
            last = columns[-1].pop() if joins else Slide("", "")
            answer = code(cell, asked=asked)
            columns[-1].append(Slide(f"{last.shown}\n{answer}", last.notes))
        else:
            asked = is_question(cell)
            for part in re.split(r"\n\n(?=## )", cell.source):
                if part.startswith(NOT_SHOWN):
                    continue
                if re.match(r"##? ", part) and columns[-1]:
                    columns.append([])
                slide = text(part)
                if not slide.shown and columns[-1]:  # notes for the last slide
                    last = columns[-1].pop()
                    slide = Slide(last.shown, last.notes + slide.notes)
                columns[-1].append(slide)
    return [_without_thin_ones(column) for column in columns if column]


def _without_thin_ones(column: list[Slide]) -> list[Slide]:
    """Merges slides that have little content with their neighbours."""
    kept = column[:1]
    for slide in column[1:]:
        last = kept[-1]
        if not HEADED.match(slide.shown) and (_is_thin(slide) or _is_thin(last)):
            kept[-1] = Slide(f"{last.shown}\n{slide.shown}", last.notes + slide.notes)
        else:
            kept.append(slide)
    return kept


def _is_thin(slide: Slide) -> bool:
    words = re.sub(r"<[^>]*>", "", slide.shown).split()
    return not FILLS.search(slide.shown) and len(words) < 30


def page(lesson: Path) -> str:
    """Returns the slides of a lesson as one self-contained HTML page."""
    cells = nb.read(lesson).cells
    sections = []
    for column in slides(cells):
        inner = [f"<section>{slide.shown}\n<aside class=\"notes\">{slide.notes}</aside>"
                 "</section>" for slide in column]
        sections.append("<section>" + "\n".join(inner) + "</section>")
    title = re.match(r"# (.+)", cells[0].source)[1]
    return PAGE.format(
        title=html.escape(title), sections="\n".join(sections),
        base=_asset("reveal.css"), light=_asset("theme/white.css"),
        dark=_asset("theme/black.css"),
        own=HtmlFormatter(style="a11y-high-contrast-light").get_style_defs() + STYLE,
        reveal=_asset("reveal.js"), fit=FIT, notes=_asset("../plugin/notes/notes.js"))


def _asset(name: str) -> str:
    """Returns a reveal.js file without references to external files."""
    folder = files("sphinx_revealjs") / "_static" / "revealjs" / "dist"
    source = folder.joinpath(*name.split("/")).read_text("utf-8")
    # Fonts and source maps would be network requests.
    source = re.sub(r"@import url\([^)]*\);?|//# sourceMappingURL=\S+", "", source)
    return re.sub(r"</(script|style)", r"<\\/\1", source, flags=re.I)


def main(arguments: list[str]) -> int:
    parser = nb.parser("slides", __doc__)
    _, lessons = nb.chosen(parser, arguments)
    for lesson in lessons:
        target = FOLDER / f"{lesson.stem}.html"
        with whole_file(target) as temporary:
            temporary.write_text(page(lesson), encoding="utf-8")
        print("Open", target.relative_to(ROOT).as_posix())
    print("Press Space for the next step, and S for the speaker notes.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
