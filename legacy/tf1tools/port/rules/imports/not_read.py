"""Marks the line at which a file cannot be parsed or decoded.

If a file is neither valid Python 3 nor valid Python 2, `port` reads as much of it as
possible. The names in the readable parts are reported, but the file is not changed. The
line that stops the parser is left for you, with the parser's message.

A file that is not UTF-8 and does not declare its encoding is read as Latin-1. Python 3
rejects such a file, so its first line with a character outside ASCII is left for you.

Since: always
Lesson: 10a
Side: none

Left:

    x = (  # left: the file could be read only in part: '(' was never closed

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
    """Marks the first line of each part that cannot be parsed or decoded."""
    for part in file.parts:
        if part.tree is None:
            line, cause = part.wrong
            yield Left(part, line, f"the file could be read only in part: {cause}")
    if NOT_UTF_8 in file.words:
        head = re.match(r"[\x00-\x7f]*", file.code)
        yield Left(file.parts[0], head[0].count("\n") + 1, "the file is not UTF-8 and "
                   "declares no encoding: if it is Latin-1, begin it with "
                   "# -*- coding: latin-1 -*-")
