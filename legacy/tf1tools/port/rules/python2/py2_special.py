"""Renames special methods and attributes such as `__nonzero__` and `func_name`.

Python 3 ignores the old methods without an error. For example, without `__bool__` every
object is true, and without `metaclass=` a class has the usual metaclass.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    class Box(object):
        def __nonzero__(self):
            return False
        def size(self):
            return self.size.im_func.func_name
    print bool(Box())

After:

    class Box(object):
        def __bool__(self):
            return False
        def size(self):
            return self.size.__func__.__name__
    print(bool(Box()))

Stays:

    class Box(object):
        def __nonzero__(self):
            return self.func_name
        def __init__(self):
            self.func_name = ""
        __bool__ = __nonzero__

Left:

    class Box(object):
        __metaclass__ = Meta  # left: metaclass=Meta
        def __getslice__(self, a, b):  # left: __getitem__
            return self.items[a:b]
        def __cmp__(self, other):  # left: __lt__
            return -1
    print Box()
"""

import ast

from tf1tools.port.rule import Change, Rule

rule = Rule(__name__, __doc__, __file__)

METHODS = {
    "__nonzero__": "__bool__", "__div__": "__truediv__", "__idiv__": "__itruediv__",
    "__rdiv__": "__rtruediv__"}
LEFT = {
    **dict.fromkeys(("__getslice__", "__setslice__", "__delslice__"),
                    "slices use __getitem__, __setitem__ and __delitem__"),
    "__cmp__": "write __eq__ and __lt__, with functools.total_ordering",
    "__coerce__": "remove it", "__unicode__": "write __str__",
    "__hex__": "write __index__", "__oct__": "write __index__"}
HELD = {
    "func_name": "__name__", "func_code": "__code__", "func_defaults": "__defaults__",
    "func_globals": "__globals__", "func_doc": "__doc__", "func_dict": "__dict__",
    "func_closure": "__closure__", "im_func": "__func__", "im_self": "__self__",
    "im_class": "__self__.__class__"}


@rule.node(ast.ClassDef)
def special(node, part):
    """Renames the special methods of a class, or marks those without a successor."""
    if part.file.project.is_todays(part.file):
        return
    names = {name: one for one in node.body for name in _bound(one)}
    for name, one in names.items():
        if name == "__metaclass__":
            yield part.left(one, f"write class {node.name}(..., metaclass="
                                 f"{part.written(one.value)})")
        elif name in LEFT and isinstance(one, ast.FunctionDef):
            yield part.left(one, f"Python 3 does not call {name}: {LEFT[name]}")
        elif name in METHODS and METHODS[name] not in names and isinstance(
                one, ast.FunctionDef):
            start = part.text.text.index(name, part.start(one))
            yield Change(part, start, start + len(name), METHODS[name])


def _bound(node) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    return [target.id for target in getattr(node, "targets", [])
            if isinstance(target, ast.Name)]


@rule.node(ast.Attribute)
def held(node, part):
    """Renames attributes such as `func_name`, unless the file defines them."""
    if node.attr in HELD and isinstance(node.ctx, ast.Load) and not (
            part.file.project.is_todays(part.file) or any(
                isinstance(one, ast.Attribute) and one.attr == node.attr
                and isinstance(one.ctx, ast.Store) or isinstance(one, ast.FunctionDef)
                and one.name == node.attr for one in part.nodes)):
        end = part.text.span(node)[1]
        yield Change(part, end - len(node.attr), end, HELD[node.attr])
