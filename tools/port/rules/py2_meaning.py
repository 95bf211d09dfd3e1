"""What the same text meant to Python 2: lists, whole division, pickles, bytes.

`tools.port.meaning` as it stands, asked as one rule; its eleven kinds are to be rules
of their own: list, division, pickle, csv, bytes-list, encode, decode, input, next, cmp,
message. Where only a method speaks of Python 2, nothing is changed: a line says so.

Since: Python 3.0
Sitting: 10a
Side: Python 2.7

Before:

    print map(f, x)[0], 7 / 2

After:

    print(list(map(f, x))[0], 7 // 2)

Left:

    for name, column in frame.iteritems():
        print(name, 7 / 2)  # left: write `//` if it is Python 2
"""

from tools.port.meaning import Meaning
from tools.port.rule import Change, Left, file


@file
def mean(file, work):
    """Asks what each part of Python 2 meant."""
    python2 = file.project.python2(file)
    for part in file.parts if python2 else ():
        if not part.tree:
            continue
        meant = Meaning(part.tree, part.text)
        for edit in meant.edits:
            if python2 == "yes":
                yield Change(part, *edit)
            elif edit.new in ("//", "list("):
                words = "write `//`" if edit.new == "//" else "list(...)"
                yield Left(part, part.place(edit.start)[0],
                           f"{words} if it is Python 2")
        for line, words in meant.left:
            yield Left(part, line, words)
