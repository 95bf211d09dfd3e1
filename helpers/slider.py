"""A page with a slider over moments: self-contained HTML, no kernel, no request.

The page lives in an `iframe`, so its script and style touch nothing outside. Where a
viewer takes scripts away (GitHub, a notebook that is not trusted), the `iframe` goes
with them, and the still before it, which a style hides, comes to light.
"""

import html
from collections.abc import Sequence

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
:root {{ color-scheme: light dark }}
body {{ font: 14px/1.5 system-ui, sans-serif; margin: 8px; color: CanvasText;
  background: Canvas }}
.row {{ display: flex; gap: 8px; align-items: center }}
input {{ flex: 1; max-width: 480px }}
button {{ font: inherit; min-width: 2.4em }}
:focus-visible {{ outline: 3px solid LinkText; outline-offset: 2px }}
table {{ border-collapse: collapse; font-family: ui-monospace, monospace }}
th, td {{ border-bottom: 1px solid #bbb; padding: 2px 10px; text-align: right }}
th:first-child {{ text-align: left }}
{style}</style></head><body>
<div role="group" aria-label="{alt}">
<div class="row"><label for="moment">{title}</label>
<button id="back" aria-label="one back">&#9664;</button>
<input id="moment" type="range" min="0" max="{last}" value="{start}" step="1"
 aria-valuetext="{first}">
<button id="on" aria-label="one on">&#9654;</button></div>
<p><output id="label" for="moment" aria-live="polite">{first}</output></p>
{frames}
<p>{alt}</p></div>
<script>
const moment = document.getElementById("moment");
const label = document.getElementById("label");
const frames = [...document.querySelectorAll(".frame")];
function show() {{
  const at = Number(moment.value);
  frames.forEach((frame, i) => {{ frame.hidden = i !== at; }});
  label.textContent = frames[at].dataset.label;
  moment.setAttribute("aria-valuetext", frames[at].dataset.label);
}}
function go(by) {{ moment.value = Number(moment.value) + by; show(); }}
moment.addEventListener("input", show);
document.getElementById("back").addEventListener("click", () => go(-1));
document.getElementById("on").addEventListener("click", () => go(1));
show();
</script></body></html>"""


def slider_page(
    frames: Sequence[str],
    labels: Sequence[str],
    *,
    title: str,
    alt: str,
    style: str = "",
    before: str = "",
    start: int = 0,
) -> str:
    """Builds a page that shows one frame at a time, chosen by a slider.

    The slider is a native `<input type="range">`: arrow keys, Home and End move it,
    and a screen reader says the label of the moment. Without script all frames stand
    one under another.

    Args:
      frames: HTML or SVG, one fragment per moment, already escaped.
      labels: one line of plain text per frame.
      title: what the slider moves through, such as `step`.
      alt: one sentence: what a reader who cannot see the frames should know.
      style: CSS of the frames.
      before: HTML that stands before them.
      start: the frame to begin with.

    Returns:
      The whole document as text.
    """
    shown = [
        f'<div class="frame" data-label="{html.escape(label)}">{frame}</div>'
        for frame, label in zip(frames, labels, strict=True)
    ]
    return _PAGE.format(
        title=html.escape(title), alt=html.escape(alt), style=style,
        last=len(frames) - 1, start=start, first=html.escape(labels[start]),
        frames="\n".join([before, *shown]),
    )


def embedded(page: str, *, still: str, alt: str, height: int) -> str:
    """Puts a page into a notebook's output, with what stays where scripts may not run.

    Args:
      page: a whole HTML document, such as `slider_page` returns.
      still: HTML that says the same without script, style or slider.
      alt: the sentence that names the frame to a screen reader.
      height: of the frame, in pixels.

    Returns:
      The HTML fragment for `IPython.display.HTML`.
    """
    return (
        f'<div class="slider-still">{still}</div>'
        "<style>.slider-still { display: none }</style>"
        f'<iframe sandbox="allow-scripts" title="{html.escape(alt)}" width="100%" '
        f'height="{height}" style="border: 1px solid #bbb" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )
