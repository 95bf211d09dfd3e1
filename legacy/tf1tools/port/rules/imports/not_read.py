"""A file that is neither Python 3 nor Python 2 is read as far as it goes.

The names in what could be read are reported; nothing of the file is changed. The line
that stops the parser is left, with the parser's words. A file that
is not UTF-8 and does not say in which coding it is, is read as Latin-1 here; Python 3
refuses it, so the line of its first such letter is left.

Since: always
Sitting: 10a
Side: none

Left:

    x = (  # left: not all of it could be read: '(' was never closed

Left:

    z = {1: 2 3: 4}  # left: comma

Left:

    x = 1
    from __builtin__ import False  # left: False cannot be imported
"""

import re

from tf1tools.port.reading.files import NOT_UTF_8
from tf1tools.port.rule import Left, Rule

rule = Rule(__name__, __doc__, __file__)


@rule.file
def broken(file, work):
    """Says so once for each part."""
    for part in file.parts:
        if part.tree is None:
            line, cause = part.wrong
            yield Left(part, line, f"not all of it could be read: {cause}")
    if NOT_UTF_8 in file.words:
        head = re.match(r"[\x00-\x7f]*", file.code)
        yield Left(file.parts[0], head[0].count("\n") + 1, "no UTF-8, and no line says "
                   "what it is: begin the file with # -*- coding: latin-1 -*- if it is "
                   "that")
