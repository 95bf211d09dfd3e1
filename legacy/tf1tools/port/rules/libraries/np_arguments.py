"""Renames arguments of NumPy functions, and marks arguments that were removed.

`normed=` gave wrong counts for bins of unequal width. For bins of equal width,
`density=` gives the same result. The arguments that `corrcoef` and `array2string` no
longer accept had been ignored for years.

Since: NumPy 1.24, 2.0, 2.1, 2.4
Lesson: 10a
Side: Python 3.7 with NumPy 1.15

Before:

    import numpy as np
    counts, edges = np.histogram(x, bins=4, normed=True)
    middle = np.percentile(x, 50, interpolation="lower")
    print(np.reshape(np.arange(6), newshape=(2, 3)))

After:

    import numpy as np
    counts, edges = np.histogram(x, bins=4, density=True)
    middle = np.percentile(x, 50, method="lower")
    print(np.reshape(np.arange(6), shape=(2, 3)))

Left:

    import numpy as np
    r = np.corrcoef(x, y, bias=True)  # left: remove bias=, which had no effect
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({f"numpy.{name}(normed=)": "density"
           for name in ("histogram", "histogram2d", "histogramdd")})
rule.rows({f"numpy.{name}(interpolation=)": "method"
           for name in ("percentile", "nanpercentile", "quantile", "nanquantile")})
rule.rows({"numpy.linalg.matrix_rank(M=)": "A", "numpy.reshape(newshape=)": "shape"})
rule.rows({f"numpy.{name}({word}=)": (
               "", f"remove {word}=, which had no effect")
           for name, word in [("corrcoef", "bias"), ("corrcoef", "ddof"),
                              ("ma.corrcoef", "bias"), ("ma.corrcoef", "ddof"),
                              ("array2string", "style"), ("save", "fix_imports")]})
