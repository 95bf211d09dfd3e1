"""Replaces `np.asscalar(x)` with `x.item()`.

Since: NumPy 1.23
Lesson: 10a
Side: Python 3.7 with NumPy 1.15

Before:

    import numpy as np
    x = np.asscalar(np.mean(y) + 1)

After:

    import numpy as np
    x = (np.mean(y) + 1).item()

Stays:

    import numpy as np
    x = asscalar(y)
    z = map(np.asscalar, y)  # left: no current package has it
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("numpy.asscalar")
def item(use):
    """Replaces a call of `np.asscalar` with a call of the method `item`."""
    if use.call.positional != 1 or use.call.keywords or use.call.open:
        return
    yield use.part.instead(use.function, "")
    yield use.part.behind(use.node, ".item()")
