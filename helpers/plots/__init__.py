"""Plotting functions, and the display of a figure with its alternative text."""

import html
import io

import matplotlib.pyplot as plt
from IPython.display import display
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from helpers.language import DPI
from helpers.plots.charts import (
    end_labels,
    lanes,
    reference,
    strip,
    tree,
    weights,
)
from helpers.plots.drawing import arrow, box, cross, sheet, tank
from helpers.plots.graphs import draw_graph

__all__ = [
    "arrow", "box", "cross", "draw_graph", "end_labels", "lanes", "reference",
    "sheet", "show", "strip", "tank", "tree", "weights",
]


SMALLEST = 8  # points, legible from the last row of a classroom


def show(fig: Figure, alt: str, title: str = "") -> None:
    """Displays a figure with its alternative text, which is also the caption below.

    JupyterLab drops the alternative text of a picture, whereas a caption reaches screen
    readers and GitHub. The tests compare the caption's plain text.

    Args:
      fig: Figure, which is closed afterwards.
      alt: Sentence that tells a reader who cannot see the figure what it shows.
      title: Finding of the whole figure, to be used if no axes have a title.

    Raises:
      ValueError: If there is no alternative text, no title, or a text that is too small
        to read.
    """
    if not alt.strip():
        raise ValueError(
            "Argument `alt` must not be empty. Pass a sentence that describes the "
            "figure."
        )
    if not title and not any(ax.get_title("left") for ax in fig.axes):
        raise ValueError(
            "The figure has no title. Pass `title` to show, or set a title at the left "
            "of the axes."
        )
    if title:
        fig.draw_without_rendering()  # applies the automatic layout first
        drawn, (width, height) = fig.get_tightbbox(), fig.get_size_inches()
        fig.suptitle(title, x=drawn.x0 / width, y=(drawn.y1 + 0.08) / height, ha="left",
                     va="bottom", fontsize=10, fontweight="bold")
    for text in fig.findobj(Text):
        size = float(text.get_fontsize())
        if text.get_text() and size < SMALLEST:
            raise ValueError(
                f"The font size of {text.get_text()!r} must be at least {SMALLEST} "
                f"points, but is {size:g}."
            )
    png, pixels = _png(fig)
    display({"image/png": png, "text/plain": repr(fig)}, raw=True,
            metadata={"image/png": {"alt": alt, "width": pixels}})
    display({"text/html": f"<p class='figure-caption'><small>{html.escape(alt)}"
                          "</small></p>",
             "text/plain": f"Figure: {alt}"}, raw=True)
    plt.close(fig)


def _png(fig: Figure) -> tuple[bytes, int]:
    """Renders a figure as a PNG with 256 colours, and returns its width in pixels."""
    drawn, small = io.BytesIO(), io.BytesIO()
    fig.savefig(drawn, dpi=DPI, bbox_inches="tight", facecolor="white")
    image = Image.open(drawn).convert("RGB").quantize(256)
    image.save(small, "png", optimize=True)
    return small.getvalue(), round(image.width * 90 / DPI)
