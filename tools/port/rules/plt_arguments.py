"""Arguments and names that Matplotlib's `pyplot` had before 3.1.

Since: Matplotlib 2.2, 3.0, 3.1
Sitting: 10a
Side: Python 3.7 with Matplotlib 2.1

Before:

    import matplotlib.pyplot as plt
    plt.subplot(1, 2, 1, axisbg="white")
    n, edges, bars = plt.hist(x, bins=2, normed=True)
    figure, axes = plt.subplots()
    axes.hist(x, normed=True)

After:

    import matplotlib.pyplot as plt
    plt.subplot(1, 2, 1, facecolor="white")
    n, edges, bars = plt.hist(x, bins=2, density=True)
    figure, axes = plt.subplots()
    axes.hist(x, density=True)

Left:

    import matplotlib.pyplot as plt
    plt.hold(True)  # left: leave it out
"""

import ast

from tools.port.rule import Change, node, rows

rows({
    "matplotlib.pyplot.hist(normed=)": "density",
    "matplotlib.pyplot.subplot(axisbg=)": "facecolor",
    "matplotlib.pyplot.axes(axisbg=)": "facecolor",
    "matplotlib.pyplot.hold": ("", "leave it out: a plot is drawn over the last one"),
})


@node(ast.Call)
def of_axes(node, part):
    """The same of a method, where its value is one of Matplotlib."""
    word = next((one for one in node.keywords if one.arg == "normed"), None)
    if word and isinstance(node.func, ast.Attribute) and node.func.attr == "hist" and (
            part.full(node.func) != "matplotlib.pyplot.hist"):
        whose = part.file.project.gives({"matplotlib"}, node.func.value, part)
        start = part.start(word)
        if whose == "theirs":
            yield Change(part, start, start + len("normed"), "density")
        elif whose:
            yield part.left(node, "hist: density= today, if it is Matplotlib's")
