"""Arranges slides as one reveal.js page, which needs no other file.

A slide has 1280 x 720 pixels. The page distributes its parts over as many slides as
they need, so that no text is smaller than 18 pixels and nothing is cut.
"""

import html
import re
from dataclasses import dataclass, field
from importlib.resources import files

from nbconvert.filters import markdown2html
from pygments.formatters import HtmlFormatter

from tools import book_sphinx

TALL = 0.5  # height of a drawing by its width, from which controls stand beside it
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{base}</style>
<style media="(prefers-color-scheme: light)">{light}</style>
<style media="(prefers-color-scheme: dark)">{dark}</style>
<style>{own}</style></head>
<body><div class="reveal"><main class="slides">
{columns}
</main></div>
<script>{reveal}</script><script>{notes}</script>
<script>{script}
Reveal.initialize({{hash: true, slideNumber: "c/t", width: 1280, height: 720, margin: 0,
  center: false, controls: false, transition: "none", navigationMode: "linear",
  plugins: [RevealNotes]}});</script>
</body></html>
"""
STYLE = """
.reveal { font-size: 24px; line-height: 1.35; }
.reveal .slides { text-align: left; }
.reveal .slides section { padding: 0; }
.reveal .slides .page { box-sizing: border-box; width: 1280px; height: 720px;
  padding: 14px 24px 32px; display: flex; flex-direction: column; overflow: hidden; }
.page > * { flex: none; }
.reveal h1, .reveal h2, .reveal h3 { text-transform: none; margin: 0 0 0.3em; }
.reveal h1 { font-size: 48px; } .reveal h2 { font-size: 34px; }
.reveal h3 { font-size: 28px; }
.reveal p, .reveal ul, .reveal ol, .reveal table, .reveal blockquote {
  margin: 0 0 12px; }
.reveal li + li { margin-top: 8px; }
.reveal .where { font-size: 18px; margin: 0 0 8px; opacity: 0.8; }
.reveal pre { width: 100%; box-sizing: border-box; box-shadow: none; font-size: 20px;
  line-height: 1.3; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 12px;
  padding: 6px 12px; }
.reveal code { font-size: 0.92em; } .reveal :is(pre, .small) code { font-size: 1em; }
.reveal div.highlight pre { background: #f8f8f8; color: #1f1f1f; }
.reveal pre.output { border-left: 4px solid currentColor; }
.reveal blockquote { width: auto; font-style: normal; padding: 8px 16px; }
.reveal blockquote p:last-child { margin: 0; }
.reveal table { font-size: 22px; } .reveal table :is(td, th) { padding: 5px 16px; }
.reveal .agenda :is(td, th) { padding: 0 16px; border: 0; font-size: 20px; }
.reveal .small, .reveal .small :is(pre, table) { font-size: 18px; }
.reveal .large { font-size: 28px; } .reveal .large :is(pre, table) { font-size: 24px; }
.reveal .figure > :is(img, iframe) { flex: 1; min-height: 0; width: 100%; margin: 0;
  max-width: none; max-height: none; border: 0 !important; }
.reveal .figure > img { object-fit: contain; background: #fff; }
.reveal svg.formula { overflow: visible; }
.reveal .slide-number { font-size: 18px; background: none; color: inherit; }
.measured section { display: block !important; position: relative !important; }
@media (prefers-color-scheme: dark) { .reveal .figure > img {
  filter: brightness(0.82); } }
"""
# In a slide, the drawing of an interactive figure is larger than in a notebook.
FIGURE = """<style>body { font-size: 18px } h1 { font-size: 22px }
main { max-width: none; padding: 2px; gap: 8px } #view { flex: 1 0 0 }
details, #touch, #wider { display: none !important }</style>"""
BESIDE = """<style>main { display: grid; gap: 8px 14px;
  grid: auto auto 1fr / 210px 1fr } form { flex-direction: column }
form, form div, fieldset { align-items: flex-start } legend { width: 100% }
h1 { font-size: 20px; line-height: 1.25 } form, form div { gap: 4px }
#view { grid-area: 1 / 2 / 4 / 3 }</style>"""
# After a click, and after a key that turns pages, the deck gets the keyboard back.
RELEASE = """<script>
document.addEventListener('click',
  event => event.detail ? parent.postMessage('click', '*') : 0);
document.addEventListener('keydown', event =>
  ['PageDown', 'PageUp', 'Escape'].includes(event.key)
    ? parent.postMessage(event.key, '*') : 0);
</script>"""
SCRIPT = """
addEventListener("message", ({data}) => {
  if (!["click", "Escape", "PageDown", "PageUp"].includes(data)) return;
  document.activeElement.blur();
  focus();
  if (data === "PageDown") Reveal.next();
  if (data === "PageUp") Reveal.prev();
});
const slides = document.querySelector(".slides");
const over = page => page.scrollHeight > page.clientHeight;
function sized(page, ...sizes) {  // takes the first size with which everything fits
  return sizes.some(size => {
    page.className = `page ${size}`;
    return !over(page);
  });
}
function divide(page) {  // moves what does not fit to slides after it
  const parts = [...page.querySelectorAll(":scope > .part")], rest = [];
  const move = () => { rest.unshift(parts.pop()); rest[0].remove(); };
  if (sized(page, "large", "")) return;
  while (over(page) && parts.length > 1) move();
  while (parts.length > 1 && parts.at(-1).matches(".keep")) move();
  if (parts.every(each => each.matches(".keep:not(.code)"))) {  // sentences alone
    page.append(...rest);
    if (sized(page, "small")) return;
    rest.forEach(each => each.remove());
  }
  sized(page, "large", "", "small");
  if (!rest.length) return;
  const section = page.parentElement.cloneNode(true), next = section.firstElementChild;
  next.replaceChildren(...rest);
  next.insertAdjacentHTML("afterbegin", `<p class="where">${page.dataset.where}</p>`);
  next.querySelector(".part").classList.remove("fragment");  // or it would begin blank
  page.parentElement.after(section);
  divide(next);
}
slides.classList.add("measured");
document.querySelectorAll(".page:not(.figure)").forEach(divide);
slides.classList.remove("measured");
"""


@dataclass
class Slide:
    """Contents of one slide, as HTML.

    Attributes:
      where: Running title, which says to what the slide belongs.
      parts: Headings, questions, code and outputs.
      notes: Speaker notes.
      figure: Whether the slide has one figure, which fills it.
      asked: Whether a question has been asked, so that outputs wait for a key.
      solid: Whether the slide has more than sentences.
      full: Whether something has been shown that the next part must not join.
    """

    where: str
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figure: bool = False
    asked: bool = False
    solid: bool = False
    full: bool = False


def markdown(source: str) -> str:
    """Converts Markdown to HTML and renders its formulas."""
    formulas = re.compile(r"(?<![\w`])\$([^$\n]+)\$(?![\w`])")
    drawn = map(book_sphinx.svg, formulas.findall(source))
    # In Markdown, a drawing would end the paragraph around it.
    shown = markdown2html(formulas.sub("FORMULA", source)).strip()
    return re.sub("FORMULA", lambda _: next(drawn), shown)


def inline(source: str) -> str:
    """Converts the Markdown of one line to HTML without a paragraph around it."""
    return re.sub(r"^<p>|</p>$", "", markdown(source))


def heading(level: int, title: str) -> str:
    """Returns a heading as HTML, from its text in Markdown."""
    return f"<h{level}>{inline(title)}</h{level}>"


def part(shown: str, *classes: str) -> str:
    """Returns a part of a slide. Parts of the class `keep` stay with the next part."""
    return f'<div class="{" ".join(["part", *classes])}">{shown}</div>'


def interactive(output: str) -> str:
    """Returns the iframe of an interactive figure in the form for a slide.

    Args:
      output: HTML of a figure of `helpers.explore`.
    """
    frame = re.search(r"<iframe.*?</iframe>", output, re.S)[0]
    size = re.search(r"id='stage' viewBox='0 0 (\d+) (\d+)'", frame)
    width, height = map(int, size.groups())
    style = FIGURE + BESIDE * (height / width > TALL)
    frame = frame.replace("</head>", f"{style}</head>", 1)
    return frame.replace("</body>", f"{RELEASE}</body>", 1)


def page(title: str, columns: list[list[Slide]]) -> str:
    """Returns slides as one self-contained HTML page.

    Args:
      title: Title of the page.
      columns: Slides of each section.
    """
    return PAGE.format(
        title=html.escape(title), columns="\n".join(map(_column, columns)),
        base=_asset("reveal.css"), light=_asset("theme/white.css"),
        dark=_asset("theme/black.css"), script=SCRIPT,
        own=HtmlFormatter(style="a11y-high-contrast-light").get_style_defs() + STYLE,
        reveal=_asset("reveal.js"), notes=_asset("../plugin/notes/notes.js"))


def _column(slides: list[Slide]) -> str:
    made = []
    for slide in slides:
        headed = re.search(r"<h[12]\b", slide.parts[0])
        where = "" if headed else f'<p class="where">{slide.where}</p>'
        made.append(
            f'<section><div class="page{" figure" * slide.figure}" '
            f'data-where="{html.escape(slide.where)}">{where}' + "\n".join(slide.parts)
            + f'</div><aside class="notes">{"".join(slide.notes)}</aside></section>')
    return "<section>" + "\n".join(made) + "</section>"


def _asset(name: str) -> str:
    """Returns a reveal.js file without references to external files."""
    folder = files("sphinx_revealjs") / "_static" / "revealjs" / "dist"
    source = folder.joinpath(*name.split("/")).read_text("utf-8")
    # Fonts and source maps would be network requests.
    source = re.sub(r"@import url\([^)]*\);?|//# sourceMappingURL=\S+", "", source)
    return re.sub(r"</(script|style)", r"<\\/\1", source, flags=re.I)
