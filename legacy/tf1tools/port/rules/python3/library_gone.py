"""A name that Python's library or NumPy has no more, and no row has another for it.

Python's library is asked for each name; NumPy's names are in a table.

Since: always
Sitting: 10a
Side: none: nothing is written

Left:

    import numpy as np
    x = np.lib.pad(y, 1, "constant")  # left: nothing has it today
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)
