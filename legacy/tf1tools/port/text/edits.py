"""Changes to a text, kept apart from it, so that places of both can be compared."""

import bisect
from typing import NamedTuple


class Edit(NamedTuple):
    """One change: what stands from `start` to `end` becomes `new`."""

    start: int
    end: int
    new: str


class Text:
    """A text in which places are found by line and column, as a parser gives them."""

    def __init__(self, text: str):
        """Counts the lines of a text once."""
        self.text = text
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Returns the place of a parser's line (from 1) and column (in bytes)."""
        start = self._starts[line - 1]
        head = self.text[start:start + column]
        if not head.isascii():
            whole = self.text[start:self._starts[line] - 1].encode()
            return start + len(whole[:column].decode("utf-8", "ignore"))
        return start + column

    def span(self, node) -> tuple[int, int]:
        """Returns where a node of a syntax tree starts and ends."""
        return (self.offset(node.lineno, node.col_offset),
                self.offset(node.end_lineno, node.end_col_offset))

    def before(self, offset: int) -> str:
        """Returns what stands before a place on its line."""
        return self.text[self._starts[self.place(offset)[0] - 1]:offset]

    def place(self, offset: int) -> tuple[int, int]:
        """Returns line and column, both from 1, the column in characters."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def applied(text: str, edits: list[Edit]) -> str:
    """Returns a text with its edits made.

    Raises:
      ValueError: two of them want one place.
    """
    parts, at = [], 0
    for start, end, new in _in_order(edits):
        if start < at:
            raise ValueError(f"two edits want one place: {text[start:end]!r}")
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


class Places:
    """Where the places of an edited text stood before the edits."""

    def __init__(self, edits: list[Edit]):
        """Adds up how far each edit moved what follows it."""
        self._after, self._moved = [0], [0]
        for start, end, new in _in_order(edits):
            self._moved.append(self._moved[-1] + len(new) - (end - start))
            self._after.append(end + self._moved[-1])

    def before(self, offset: int) -> int:
        """Returns where a place of the edited text stood."""
        return offset - self._moved[bisect.bisect_right(self._after, offset) - 1]


def _in_order(edits: list[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda edit: edit[:2])
