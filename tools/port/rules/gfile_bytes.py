"""A file that is opened as text gives text; pictures and protos are bytes.

Python 2 knew no difference, so `FastGFile(path, "r").read()` gave the bytes of a JPEG.
Today it decodes them and fails. What goes into `ParseFromString` is bytes for sure;
elsewhere the line is left where the program decodes pictures or parses protos.

Since: Python 3.0
Sitting: 04a
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

from tools.port.rule import call
from tools.port.syntax import dotted

_BYTES = re.compile(r"\bdecode_(jpeg|png|gif|image|raw)\b|\bParseFromString\b")


@call("tf.gfile.FastGFile", "tf.gfile.GFile", "tf.gfile.Open", "tf.io.gfile.GFile")
def as_text(use):
    """Opens a proto as bytes; leaves what is read at once from a file of text."""
    keyword = use.keyword("mode")
    mode = keyword.value if keyword else (use.node.args[1:] or [None])[0]
    if mode is not None and getattr(mode, "value", "") != "r":
        return
    at_once = isinstance(use.parent, ast.Attribute) and use.parent.attr == "read"
    if _is_parsed(use) and (mode or len(use.node.args) == 1):
        yield use.part.instead(mode, '"rb"') if mode else \
            use.part.behind(use.node.args[0], ', "rb"')
    elif at_once and _BYTES.search(use.part.file.code):
        yield use.left('give "rb", if these are the bytes of a picture or a proto')


def _is_parsed(use) -> bool:
    """Whether a proto is parsed from what is read, at once or by the file's name."""
    for node in use.part.nodes:
        if isinstance(node, ast.Call) and getattr(
                node.func, "attr", "") == "ParseFromString" and node.args:
            read = getattr(node.args[0], "func", None)
            file = getattr(read, "value", None)
            if getattr(read, "attr", "") == "read" and (
                    file is use.node or use.node in use.part.given.get(
                        dotted(file) or "", [])):
                return True
    return False
