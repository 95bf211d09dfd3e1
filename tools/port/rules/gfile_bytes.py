"""A file that is opened as text gives text; pictures and protos are bytes.

Python 2 knew no difference, so `FastGFile(path, "r").read()` gave the bytes of a JPEG.
Today it decodes them and fails. The line is left where the program decodes pictures or
parses protos.

Since: Python 3.0
Sitting: 04a
Side: Python 2.7, TensorFlow 1.15

Left:

    raw = tf.gfile.FastGFile(path, "r").read()  # left: "rb"
    lines = tf.gfile.GFile(words, "rb").read()
    picture = tf.image.decode_jpeg(raw)
"""

import ast
import re

from tools.port.rule import call

_BYTES = re.compile(r"\bdecode_(jpeg|png|gif|image|raw)\b|\bParseFromString\b")


@call("tf.gfile.FastGFile", "tf.gfile.GFile", "tf.gfile.Open", "tf.io.gfile.GFile")
def as_text(use):
    """Leaves what is read at once from a file of text."""
    if not use.is_call or not isinstance(use.parent, ast.Attribute) or \
            use.parent.attr != "read" or not _BYTES.search(use.part.file.code):
        return
    mode = use.keyword("mode")
    mode = mode.value if mode else (use.node.args[1:] or [None])[0]
    if mode is None or getattr(mode, "value", "") == "r":
        yield use.left('give "rb", if these are the bytes of a picture or a proto')
