"""Renames arguments and methods that Matplotlib has renamed since version 2.2.

Since: Matplotlib 2.2, 3.0, 3.1, 3.6, 3.7
Lesson: 10a
Side: Python 3.7 with Matplotlib 2.1

Before:

    import matplotlib.pyplot as plt
    plt.subplot(1, 2, 1, axisbg="white")
    n, edges, bars = plt.hist(x, bins=2, normed=True)
    figure, axes = plt.subplots()
    axes.hist(x, normed=True)
    axes.grid(b=False)
    figure.canvas.set_window_title("pixels")
    plt.gcf().canvas.set_window_title("pixels")

After:

    import matplotlib.pyplot as plt
    plt.subplot(1, 2, 1, facecolor="white")
    n, edges, bars = plt.hist(x, bins=2, density=True)
    figure, axes = plt.subplots()
    axes.hist(x, density=True)
    axes.grid(visible=False)
    figure.canvas.manager.set_window_title("pixels")
    plt.gcf().canvas.manager.set_window_title("pixels")

Stays:

    import matplotlib.pyplot as plt
    plt.get_current_fig_manager().set_window_title("pixels")
    plt.figure().canvas.manager.set_window_title("pixels")
    class Plot:
        def hist(self, x, normed=False):
            return normed
    Plot().hist(x, normed=True)

Left:

    import matplotlib.pyplot as plt
    plt.hold(True)  # left: remove it
"""

import ast

from tf1tools.port.reading.project import Certainty
from tf1tools.port.rule import Change, Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    "matplotlib.pyplot.hist(normed=)": "density",
    "matplotlib.pyplot.grid(b=)": "visible",
    "matplotlib.pyplot.subplot(axisbg=)": "facecolor",
    "matplotlib.pyplot.axes(axisbg=)": "facecolor",
    "matplotlib.pyplot.hold": ("", "remove it: each plot is drawn over the last one"),
})
_OF_AXES = {"hist": ("normed", "density"), "grid": ("b", "visible")}


@rule.node(ast.Call)
def of_axes(node, part):
    """Renames arguments of axes methods if the object comes from Matplotlib."""
    name = getattr(node.func, "attr", "")
    old, new = _OF_AXES.get(name, ("", ""))
    word = next((one for one in node.keywords if one.arg == old), None)
    project = part.file.project
    if word and name not in project.methods and (
            part.full(node.func) != f"matplotlib.pyplot.{name}"):
        certainty = project.gives({"matplotlib"}, node.func.value, part)
        start = part.start(word)
        if certainty is Certainty.YES:
            yield Change(part, start, start + len(old), new)
        elif certainty:
            yield part.left(node, f"{name}: write {new}= if this is Matplotlib's")


@rule.node(ast.Call)
def of_the_window(node, part):
    """Calls `set_window_title` on the canvas's manager."""
    method, canvas = node.func, getattr(node.func, "value", None)
    project = part.file.project
    called = (getattr(canvas, "attr", ""), getattr(method, "attr", ""))
    if called == ("canvas", "set_window_title") and called[1] not in project.methods:
        certainty = project.gives({"matplotlib"}, canvas.value, part)
        place = part.text.span(method)[1] - len(method.attr)
        if certainty is Certainty.YES:
            yield Change(part, place, place, "manager.")
        elif certainty:
            yield part.left(node, "set_window_title: if this is a canvas of "
                                  "Matplotlib, call it on canvas.manager")
