"""The drawing of a graph, and the way to show any figure with its sentence."""

import matplotlib.pyplot as plt
from IPython.display import display
from matplotlib.figure import Figure

from helpers.plots.graphs import draw_graph

__all__ = ["draw_graph", "show"]


def show(fig: Figure, alt: str) -> None:
    """Shows a figure and, under it, the one sentence that says what it shows.

    The sentence is printed because JupyterLab drops the text alternative of a
    picture, while printed text reaches a screen reader, GitHub and the tests.

    Args:
      fig: the figure; it is closed afterwards.
      alt: one sentence: what a reader who cannot see the figure should know.

    Raises:
      ValueError: there is no sentence.
    """
    if not alt.strip():
        raise ValueError("show: say in one sentence what the figure shows (alt)")
    display(fig, metadata={"image/png": {"alt": alt}})
    print(f"Figure: {alt}")
    plt.close(fig)
