"""Sphinx extension that adds formulas, alternative texts and search excerpts.

Matplotlib draws the formulas as SVG, so that they need no script, no font and no
network. They have the colour of the text and can therefore be read on light and dark
pages. The alternative text of a formula is its TeX source.
"""

import html
import io
import json
import logging
import re
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import math_to_image

# Without the font STIX, Matplotlib uses another font and warns for each formula.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
POINTS = 12  # font size in which the drawing is measured
HEAD = ('<svg class="formula" role="img" aria-label="{tex}" fill="currentColor" '
        'xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" '
        'style="width:{width:.2f}em;height:{height:.2f}em;'
        'vertical-align:-{below:.2f}em">')


def svg(tex: str) -> str:
    """Renders a formula as an inline SVG that scales with the text.

    Args:
      tex: Formula in the subset of TeX that Matplotlib supports, without dollar signs.

    Raises:
      ValueError: If Matplotlib cannot parse the formula. The message gives the
        position.
    """
    file = io.BytesIO()
    font = FontProperties(size=POINTS, math_fontfamily="cm")
    below = math_to_image(f"${tex}$", file, prop=font, dpi=72, format="svg")
    text = file.getvalue().decode()
    box = re.search(r'viewBox="([^"]+)"', text)[1]
    width, height = (float(number) / POINTS for number in box.split()[2:])
    # Keep the glyphs, but remove the white background and the black colour.
    ground = r'<g id="patch_1">.*?</g>'
    body = re.search(r"<defs>.*</svg>", re.sub(ground, "", text, flags=re.S), re.S)[0]
    body = re.sub(r"<style.*?</style>|<!--.*?-->|(?<=<g) id=\"\w+\"", "", body,
                  flags=re.S)
    return HEAD.format(tex=html.escape(tex), box=box, width=width, height=height,
                       below=below / POINTS) + body


def _visit(self, node):
    self.body.append(svg(node.astext()))
    raise nodes.SkipNode


def _visit_block(self, node):
    self.body.append(f'<p class="formula">{svg(node.astext())}</p>')
    raise nodes.SkipNode


def text_alternatives(app, doctree):
    """Adds the alternative text to each figure, because myst-nb drops it."""
    for cell in doctree.findall(nodes.container):
        sentences = cell.get("cell_metadata", {}).get("figures", [])
        if sentences:
            images = list(cell.findall(nodes.image))
            for image, sentence in zip(images, sentences, strict=True):
                image["alt"] = sentence


def examples(app, what, name, obj, options, lines):
    """Marks indented blocks in a docstring as literal code blocks."""
    if what in ("attribute", "property"):
        lines.insert(0, "")  # otherwise napoleon takes text before a colon for a type
    for i in range(len(lines) - 1, 0, -1):
        if lines[i].startswith("    ") and not lines[i - 1].strip():
            below = next((line for line in lines[i - 1::-1] if line.strip()), "")
            if not below.startswith("    "):
                lines[i:i] = ["::", ""]


def no_plain_fields(app, what, name, obj, skip, options):
    """Skips the fields of named tuples that have no documentation of their own."""
    alias = (getattr(obj, "__doc__", "") or "").startswith("Alias for field number")
    return True if alias else None


# A page opened from disk may not read other pages, so the search gets the texts here.
EXCERPTS = """\
const TEXTS = %s;
if (location.protocol === 'file:') {
  const element = document.createElement('p');
  window.fetch = async address => {
    element.textContent = TEXTS[address.replace(/^[.]\\//, '')] || ' ';
    const text = `<div role="main">${element.innerHTML}</div>`;
    return {text: async () => text};
  };
}
"""


def excerpts(app, error):
    """Writes each page's text to a script, so that search works without a server."""
    folder = Path(app.outdir)
    search = folder / "search.html"
    if error or app.builder.format != "html" or not search.exists():
        return
    texts = {}
    for path in folder.rglob("*.html"):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for piece in page.select(".headerlink, script, style, svg"):
            piece.decompose()
        for code in page.select("pre, code"):  # one element for each token
            code.string = code.get_text()
        if main := page.select_one("article"):
            texts[path.relative_to(folder).as_posix()] = " ".join(
                main.get_text(" ").split())
    (folder / "_static" / "excerpts.js").write_text(
        EXCERPTS % json.dumps(texts, ensure_ascii=False), encoding="utf-8")
    asks = '<script src="_static/excerpts.js"></script></head>'
    search.write_text(search.read_text("utf-8").replace("</head>", asks), "utf-8")
    index = folder / "searchindex.js"
    index.write_text(numbered(index.read_text("utf-8")), "utf-8")


def numbered(index):
    """Adds the numbers of the lessons to their titles in Sphinx's search index.

    Args:
      index: The text of `searchindex.js`.
    """
    begin, end = "Search.setIndex(", ")"
    found = json.loads(index.strip().removeprefix(begin).removesuffix(end))
    for place, (page, title) in enumerate(zip(found["docnames"], found["titles"],
                                              strict=True)):
        if lesson := re.match(r"notebooks/(\d\d[a-z]?)_", page):
            found["titles"][place] = f"{lesson[1]} {title}"
            headings = found["alltitles"].get(title, [])
            own = [heading for heading in headings if heading[0] == place]
            found["alltitles"][f"{lesson[1]} {title}"] = own
            headings[:] = [heading for heading in headings if heading not in own]
    return f"{begin}{json.dumps(found, ensure_ascii=False)}{end}"


def setup(app):
    """Registers the formula renderer and the event handlers with Sphinx."""
    app.add_html_math_renderer("mathtext", (_visit, None), (_visit_block, None))
    app.connect("doctree-read", text_alternatives)
    app.connect("autodoc-process-docstring", examples, priority=100)
    app.connect("autodoc-skip-member", no_plain_fields)
    app.connect("build-finished", excerpts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
