"""Adds `allow_pickle=True` to `np.load` calls that must read a pickle.

`np.load` once read pickles by default. Since NumPy 1.16.3, it raises `Object arrays
cannot be loaded when allow_pickle=False`. Weights were often saved as a dictionary in a
`.npy` file. Such a file contains a pickle, and the program calls `item()` on the loaded
array.

A pickle can execute code, so the argument is added only if the program clearly reads a
pickle. In a program of Python 2, the file was written by Python 2 as well, so its text
is read as Latin-1.

Since: NumPy 1.16.3
Lesson: 10a
Side: Python 3.7 with NumPy 1.15

Before:

    import numpy as np
    weights = np.load("vgg.npy").item()
    more = np.load("more.npy", encoding="latin1")

After:

    import numpy as np
    weights = np.load("vgg.npy", allow_pickle=True).item()
    more = np.load("more.npy", encoding="latin1", allow_pickle=True)

Stays:

    import numpy as np
    images = np.load("images.npy")

Before:

    import numpy as np
    weights = np.load("vgg.npy")
    print weights.item().keys()[0]

After:

    import numpy as np
    weights = np.load("vgg.npy", allow_pickle=True, encoding="latin1")
    print(list(weights.item().keys())[0])
"""

import ast

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("numpy.load")
def load(use):
    """Adds `allow_pickle=True` to an `np.load` call that reads a pickle."""
    if "allow_pickle" in use.call.keywords or use.call.open:
        return
    if "encoding" not in use.call.keywords and not _is_asked_for_item(use):
        return
    yield from use.add_argument("allow_pickle=True")
    if use.project.python2(use.part.file) and "encoding" not in use.call.keywords:
        yield from use.add_argument('encoding="latin1"')


def _is_asked_for_item(use) -> bool:
    if isinstance(use.parent, ast.Attribute):
        return use.parent.attr == "item"
    given = [use.part.written(one) for one in getattr(use.parent, "targets", [])]
    return any(f"{one}.item()" in use.part.text.text for one in given)
