"""Names that Python 3 itself took away, long after Python 2.

The Pythons that TensorFlow 1 ran on had them, so they say nothing of Python 2.

Since: Python 3.8 to 3.13
Sitting: 10a
Side: Python 3.7

Before:

    import collections, time
    start = time.clock()
    print(isinstance([], collections.Sequence), 7 / 2)

After:

    import collections.abc
    import collections, time
    start = time.perf_counter()
    print(isinstance([], collections.abc.Sequence), 7 / 2)

What `getfullargspec` gives is longer, and one part of it has another name:

Before:

    import inspect
    args, varargs, keywords, defaults = inspect.getargspec(f)
    print(inspect.getargspec(f).args, inspect.getargspec(f).keywords)

After:

    import inspect
    args, varargs, keywords, defaults = inspect.getfullargspec(f)[:4]
    print(inspect.getfullargspec(f).args, inspect.getfullargspec(f).varkw)
"""

import ast

from tools.port.rule import Change, call, rows

rows({
    **{f"collections.{name}": f"collections.abc.{name}" for name in (
        "Mapping", "MutableMapping", "Sequence", "MutableSequence", "Iterable",
        "Iterator", "Callable", "Hashable", "Set", "MutableSet", "Sized", "Container")},
    "time.clock": "time.perf_counter", "fractions.gcd": "math.gcd",
    "inspect.getargspec": "inspect.getfullargspec",
    "base64.encodestring": "base64.encodebytes",
    "base64.decodestring": "base64.decodebytes",
    "xml.etree.cElementTree": "xml.etree.ElementTree",
})


@call("inspect.getargspec")
def four(use):
    """Takes the four parts that there were."""
    if isinstance(use.parent, ast.Assign) and isinstance(
            use.parent.targets[0], ast.Tuple | ast.List):
        yield use.part.behind(use.node, "[:4]")
    elif isinstance(use.parent, ast.Attribute) and use.parent.attr == "keywords":
        end = use.part.text.span(use.parent)[1]
        yield Change(use.part, end - len("keywords"), end, "varkw")
