"""Marks Python 2 code whose meaning in Python 3 depends on types at run time.

Text and bytes were the same type, also in zip files. `input` evaluated what the user
typed, `cmp=` compared two values, and every exception had a `message`. The text of the
program does not show which of these it relies on, so the line is left for you.

Since: Python 3.0
Lesson: 10a
Side: none: nothing is written

Left:

    print x.decode("utf-8")  # left: only bytes have `decode`
    print "a".encode("hex")  # left: codecs
    name = input()  # left: evaluated
    x.sort(cmp=order)  # left: cmp_to_key
    f = zipfile.ZipFile(path)
    words = f.read(f.namelist()[0]).split()  # left: tf.compat.as_str
    words = tf.compat.as_str(f.read(f.namelist()[0])).split()
    try: f()
    except ValueError, e: print e.message  # left: str()
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)

CODECS = ("hex", "base64", "zlib", "rot13")


@rule.python2(ast.Call)
def look(node, part):
    """Marks a Python 2 call whose meaning has changed in Python 3."""
    method = getattr(node.func, "attr", "")
    coding = getattr(node.args[0], "value", "") if node.args else ""
    if method == "encode" and coding in CODECS:
        yield part.left(node, "write codecs.encode, and pass bytes")
    elif method == "decode":
        yield part.left(node, "only bytes have `decode`, and text does not")
    elif method == "read" and node.args and "as_" not in getattr(
            getattr(part.parents[node], "func", None), "attr", "") and any(
            (dotted(getattr(one, "func", None)) or "").endswith("ZipFile")
            for one in part.given.get(dotted(node.func.value) or "", [])):
        yield part.left(node, "a zip file returns bytes: write tf.compat.as_str(...) "
                              "if they are text")
    elif dotted(node.func) == "input":
        yield part.left(node, "`input` evaluated the text that the user typed, but now "
                              "it returns the text")
    if any(word.arg == "cmp" for word in node.keywords):
        yield part.left(node, "write key=functools.cmp_to_key(...) in place of cmp=")


@rule.python2(ast.ExceptHandler)
def message(handler, part):
    """Marks the use of an exception's attribute `message`."""
    for node in part.nodes if handler.name else ():
        if isinstance(node, ast.Attribute) and node.attr == "message" and \
                getattr(node.value, "id", "") == handler.name:
            yield part.left(node, "write str() of the exception: only TensorFlow's "
                                  "errors still have `message`")
