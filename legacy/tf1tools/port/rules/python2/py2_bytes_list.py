"""Converts the text in a `BytesList` to bytes, as in Python 2.

A `BytesList` accepts only bytes. In Python 2, a string was bytes, but in Python 3 it is
text.

Since: Python 3.0
Lesson: 04a
Side: Python 2.7, TensorFlow 1.15

Before:

    import tensorflow as tf
    print tf.train.BytesList(value=["a%d" % k, b"c", x.encode()])

After:

    import tensorflow as tf
    print(tf.train.BytesList(value=[tf.compat.as_bytes("a%d" % k), b"c", x.encode()]))
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.rules.python2.py2_division import kind_of
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)

GIVE_BYTES = {"tostring", "tobytes", "SerializeToString", "encode"}


@rule.python2(ast.Call)
def as_bytes(node, part):
    """Wraps list elements in `as_bytes` unless they are clearly bytes."""
    root, found, _ = (dotted(node.func) or "").partition(".train.BytesList")
    lists = [word.value for word in node.keywords] if found else []
    for one in (one for given in lists for one in getattr(given, "elts", [])):
        method = getattr(getattr(one, "func", None), "attr", "")
        if kind_of(one, part) != "bytes" and method not in GIVE_BYTES:
            yield from part.wrapped(one, f"{root}.compat.as_bytes(")
