"""Arguments and names that Matplotlib's `pyplot` had before 3.1.

Since: Matplotlib 2.2, 3.0, 3.1
Sitting: 10a
Side: Python 3.7 with Matplotlib 2.1

Before:

    import matplotlib.pyplot as plt
    plt.subplot(1, 2, 1, axisbg="white")
    n, edges, bars = plt.hist(x, bins=2, normed=True)

After:

    import matplotlib.pyplot as plt
    plt.subplot(1, 2, 1, facecolor="white")
    n, edges, bars = plt.hist(x, bins=2, density=True)

Left:

    import matplotlib.pyplot as plt
    plt.hold(True)  # left: leave it out
"""

from tools.port.rule import rows

rows({
    "matplotlib.pyplot.hist(normed=)": "density",
    "matplotlib.pyplot.subplot(axisbg=)": "facecolor",
    "matplotlib.pyplot.axes(axisbg=)": "facecolor",
    "matplotlib.pyplot.hold": ("", "leave it out: a plot is drawn over the last one"),
})
