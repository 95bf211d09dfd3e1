"""Marks names that Python's library or NumPy has removed without a successor.

Names of Python's library are looked up in the library itself, and names of NumPy in a
table.

Since: always
Lesson: 10a
Side: none: nothing is written

Left:

    import numpy as np
    x = np.lib.pad(y, 1, "constant")  # left: no current package has it
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)
