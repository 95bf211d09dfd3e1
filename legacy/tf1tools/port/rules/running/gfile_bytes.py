"""Opens pictures and protocol buffers in binary mode, because text mode decodes.

Python 2 made no difference between text and bytes, so `FastGFile(path, "r").read()`
returned the bytes of a JPEG file. Today it decodes them and fails. The argument of
`ParseFromString` is always bytes, so its file is opened with `rb`. Other lines are left
for you if the program decodes pictures or parses protocol buffers.

Since: Python 3.0
Lesson: 04a
Side: Python 2.7, TensorFlow 1.15

Before:

    graph = tf.GraphDef()
    with tf.gfile.FastGFile(path) as f:
        graph.ParseFromString(f.read())
    graph.ParseFromString(tf.gfile.GFile(path, mode="r").read())

After:

    graph = tf.GraphDef()
    with tf.gfile.FastGFile(path, "rb") as f:
        graph.ParseFromString(f.read())
    graph.ParseFromString(tf.gfile.GFile(path, mode="rb").read())

Left:

    raw = tf.gfile.FastGFile(path, "r").read()  # left: "rb"
    lines = tf.gfile.GFile(words, "rb").read()
    picture = tf.image.decode_jpeg(raw)
"""

import ast
import re

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

_BYTES = re.compile(r"\bdecode_(jpeg|png|gif|image|raw)\b|\bParseFromString\b")


@rule.call("tf.gfile.FastGFile", "tf.gfile.GFile", "tf.gfile.Open", "tf.io.gfile.GFile")
def as_text(use):
    """Opens a parsed file in binary mode, and marks other files read as text."""
    keyword = use.keyword("mode")
    mode = keyword.value if keyword else (use.node.args[1:] or [None])[0]
    if mode is not None and getattr(mode, "value", "") != "r":
        return
    at_once = isinstance(use.parent, ast.Attribute) and use.parent.attr == "read"
    is_parsed = any(use.node in use.part.values(file) for file in use.part.protos())
    if is_parsed and (mode or len(use.node.args) == 1):
        if mode:
            yield use.part.instead(mode, '"rb"')
        else:
            yield from use.add_argument('"rb"')
    elif at_once and _BYTES.search(use.part.file.code):
        yield use.left('pass "rb" if this is a picture or a protocol buffer')
