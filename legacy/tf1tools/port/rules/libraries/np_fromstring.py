"""Marks calls of `np.fromstring` with bytes, for which `np.frombuffer` exists.

The array that `np.frombuffer` returns is read-only, so the replacement copies it.

Since: NumPy 2.3
Lesson: 10a
Side: Python 3.7 with NumPy 1.15

Left:

    import numpy as np
    x = np.fromstring(data, np.uint8)  # left: numpy.frombuffer(...).copy()
    y = np.fromstring("1 2", sep=" ")
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("numpy.fromstring")
def of_bytes(use):
    """Marks a `np.fromstring` call that reads bytes instead of text."""
    if "sep" not in use.call.keywords and use.call.positional < 4:
        yield use.left("for bytes, write numpy.frombuffer(...).copy()")
