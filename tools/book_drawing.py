"""The drawing of the house as the book shows it: the Mermaid text made into an SVG.

GitHub draws Mermaid by a script of its own. The book needs none: the layout is that of
`helpers.plots`, and the lines take the colour of the text, on light and on dark.
"""

import html
import re

INCH, LETTER, HEIGHT = 96, 0.085, 0.26  # pixels; width of a letter and height in inches
MERMAID = re.compile(r"```mermaid\nflowchart TD\n(.*?)```", re.S)
STYLE = 'fill="none" stroke="currentColor"'


def drawn(page: str) -> str:
    """Returns a page in Markdown with each Mermaid flowchart as an inline SVG."""
    return MERMAID.sub(
        lambda match: f"```{{raw}} html\n{svg(_edges(match[1]))}\n```", page)


def _edges(text: str) -> list[tuple[str, str]]:
    return re.findall(r"(\w+) --> (\w+)", text)


def svg(edges: list[tuple[str, str]]) -> str:
    """Returns arrows between named boxes as an SVG, with a sentence per box.

    Args:
      edges: (from, to), between names.
    """
    from helpers.plots.layout import layered  # brings TensorFlow with it

    names = list(dict.fromkeys(name for edge in edges for name in edge))
    sizes = {name: (LETTER * len(name) + 0.2, HEIGHT) for name in names}
    layout = layered(sizes, edges)
    parts = [_arrow(a, b, layout) for a, b in edges]
    parts += [_box(name, sizes[name][0], layout.centre[name]) for name in names]
    right = max(x + sizes[name][0] / 2 for name, (x, _) in layout.centre.items()) + 0.05
    low = max(-y for _, y in layout.centre.values()) + HEIGHT
    uses = [f"{name} imports {', '.join(b for a, b in edges if a == name)}"
            for name in names if any(a == name for a, _ in edges)]
    label = html.escape("; ".join(uses) + ".")
    return (f'<svg class="house" role="img" aria-label="{label}" '
            f'viewBox="-5 -5 {right * INCH + 10:.0f} {low * INCH + 10:.0f}" '
            'xmlns="http://www.w3.org/2000/svg"><defs><marker id="tip" '
            'markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="currentColor"/></marker></defs>'
            + "".join(parts) + "</svg>")


def _box(name: str, width: float, centre: tuple[float, float]) -> str:
    x, y = centre[0] * INCH, -centre[1] * INCH
    return (f'<rect x="{x - width * INCH / 2:.1f}" y="{y - HEIGHT * INCH / 2:.1f}" '
            f'width="{width * INCH:.1f}" height="{HEIGHT * INCH:.1f}" rx="4" {STYLE}/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="12" text-anchor="middle" '
            f'fill="currentColor">{name}</text>')


def _arrow(a: str, b: str, layout) -> str:
    points = [(layout.centre[a][0], layout.centre[a][1] - HEIGHT / 2)]
    for row in range(layout.row[a] + 1, layout.row[b]):
        x, y, height = layout.passages[a, b, row]
        points += [(x, y + height / 2), (x, y - height / 2)]
    points.append((layout.centre[b][0], layout.centre[b][1] + HEIGHT / 2))
    path = " ".join(f"{x * INCH:.1f},{-y * INCH:.1f}" for x, y in points)
    return f'<polyline points="{path}" opacity="0.6" marker-end="url(#tip)" {STYLE}/>'
