"""Replaces names that Python 3.8 to 3.13 removed.

All Python versions that TensorFlow 1 supported had these names, so they do not show
that a program was written for Python 2.

Since: Python 3.8 to 3.13
Lesson: 10a
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
    spec = inspect.getargspec(f)
    print(spec.defaults, spec.keywords)

After:

    import inspect
    args, varargs, keywords, defaults = inspect.getfullargspec(f)[:4]
    print(inspect.getfullargspec(f).args, inspect.getfullargspec(f).varkw)
    spec = inspect.getfullargspec(f)
    print(spec.defaults, spec.varkw)

Left:

    import inspect
    spec = inspect.getargspec(f)  # left: the result has seven parts today
    args, varargs, keywords, defaults = spec
"""

import ast

from tf1tools.port.rule import Change, Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    **{f"collections.{name}": f"collections.abc.{name}" for name in (
             "Mapping", "MutableMapping", "Sequence", "MutableSequence", "Iterable",
        "Iterator", "Callable", "Hashable", "Set", "MutableSet", "Sized", "Container")},
    "time.clock": "time.perf_counter", "fractions.gcd": "math.gcd",
    "inspect.getargspec": "inspect.getfullargspec",
    "base64.encodestring": "base64.encodebytes",
    "base64.decodestring": "base64.decodebytes",
    "xml.etree.cElementTree": "xml.etree.ElementTree",
})


@rule.call("inspect.getargspec")
def four(use):
    """Takes the first four values from the result of `getfullargspec`."""
    part, parent = use.part, use.parent
    if isinstance(parent, ast.Attribute):
        yield from _varkw(part, parent)
    elif isinstance(parent, ast.Assign) and isinstance(
            parent.targets[0], ast.Tuple | ast.List):
        yield part.behind(use.node, "[:4]")
    elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        loads = [one for one in part.nodes if isinstance(one, ast.Name)
                 and one.id == parent.targets[0].id and isinstance(one.ctx, ast.Load)]
        for holder in map(part.parents.get, loads):
            if isinstance(holder, ast.Attribute):
                yield from _varkw(part, holder)
            elif not isinstance(holder, ast.Subscript):
                yield use.left("the result has seven parts today")


def _varkw(part, attribute: ast.Attribute):
    """Yields the change that renames the attribute `keywords` to `varkw`."""
    if attribute.attr == "keywords":
        end = part.text.span(attribute)[1]
        yield Change(part, end - len("keywords"), end, "varkw")
