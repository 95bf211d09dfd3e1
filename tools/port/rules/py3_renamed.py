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
"""

from tools.port.rule import rows

rows({
    **{f"collections.{name}": f"collections.abc.{name}" for name in (
        "Mapping", "MutableMapping", "Sequence", "MutableSequence", "Iterable",
        "Iterator", "Callable", "Hashable", "Set", "MutableSet", "Sized", "Container")},
    "time.clock": "time.perf_counter", "fractions.gcd": "math.gcd",
    "inspect.getargspec": "inspect.getfullargspec",
})
