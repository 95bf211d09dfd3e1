"""Edits to a text, and the mapping between old and new offsets."""

import bisect
from typing import NamedTuple


class Edit(NamedTuple):
    """Replacement of the text from `start` to `end`."""

    start: int
    end: int
    new: str


class Text:
    """Text with conversions between offsets and line numbers."""

    def __init__(self, text: str):
        """Computes the offset of each line."""
        self.text = text
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Returns the offset of a line (from 1) and a column in bytes."""
        start = self._starts[line - 1]
        head = self.text[start:start + column]
        if not head.isascii():
            whole = self.text[start:self._starts[line] - 1].encode()
            return start + len(whole[:column].decode("utf-8", "ignore"))
        return start + column

    def span(self, node) -> tuple[int, int]:
        """Returns the offsets at which a syntax node starts and ends."""
        return (self.offset(node.lineno, node.col_offset),
                self.offset(node.end_lineno, node.end_col_offset))

    def before(self, offset: int) -> str:
        """Returns the text before an offset on the same line."""
        return self.text[self._starts[self.place(offset)[0] - 1]:offset]

    def place(self, offset: int) -> tuple[int, int]:
        """Returns the line and column of an offset, both counted from 1."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def applied(text: str, edits: list[Edit]) -> str:
    """Returns the text with all edits applied.

    Raises:
      ValueError: If two edits overlap.
    """
    parts, at = [], 0
    for start, end, new in _in_order(edits):
        if start < at:
            raise ValueError(f"Two edits overlap at {text[start:end]!r}.")
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


class Places:
    """Mapping from offsets in an edited text to the original text."""

    def __init__(self, edits: list[Edit]):
        """Computes the shift in offsets after each edit."""
        self._after, self._moved = [0], [0]
        for start, end, new in _in_order(edits):
            self._moved.append(self._moved[-1] + len(new) - (end - start))
            self._after.append(end + self._moved[-1])

    def before(self, offset: int) -> int:
        """Returns the original offset of an offset in the edited text."""
        return offset - self._moved[bisect.bisect_right(self._after, offset) - 1]


def _in_order(edits: list[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda edit: edit[:2])
