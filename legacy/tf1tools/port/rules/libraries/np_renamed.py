"""Replaces names that NumPy has removed.

Since: NumPy 1.24, 2.0
Lesson: 10a
Side: Python 3.7 with NumPy 1.15

Before:

    import numpy as np
    x = np.zeros(3, np.float) + np.Inf
    a = np.product([2, 3])

After:

    import numpy as np
    x = np.zeros(3, float) + np.inf
    a = np.prod([2, 3])
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    "numpy.int": "int", "numpy.float": "float", "numpy.object": "object",
    "numpy.str": "str", "numpy.complex": "complex", "numpy.unicode": "str",
    "numpy.float_": "numpy.float64", "numpy.complex_": "numpy.complex128",
    "numpy.string_": "numpy.bytes_", "numpy.unicode_": "numpy.str_",
    "numpy.Inf": "numpy.inf", "numpy.Infinity": "numpy.inf", "numpy.infty": "numpy.inf",
    "numpy.NaN": "numpy.nan", "numpy.NAN": "numpy.nan", "numpy.product": "numpy.prod",
    "numpy.cumproduct": "numpy.cumprod", "numpy.alltrue": "numpy.all",
    "numpy.sometrue": "numpy.any", "numpy.in1d": "numpy.isin",
    "numpy.trapz": "numpy.trapezoid", "numpy.round_": "numpy.round",
})
