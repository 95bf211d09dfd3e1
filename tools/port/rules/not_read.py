"""A file that is neither Python 3 nor Python 2 is read as far as it goes.

What could be read has its remarks, and nothing of the file is changed.

Since: always
Sitting: 10a
Side: none

Left:

    x = (  # left: not all of it could be read
"""

from tools.port.rule import Left, file


@file
def broken(file, work):
    """Says so once for each part."""
    for part in file.parts:
        if part.tree is None:
            yield Left(part, 1, "not all of it could be read")
