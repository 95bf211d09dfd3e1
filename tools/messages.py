"""The page of error messages, read: which of its entries a message is.

It needs nothing but Python, because `course.py doctor` does not either.
"""

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errors.md"
ENTRY = re.compile(r"^### `(?P<pattern>[^\n]+)`\n\n(?P<code>(?:```python\n.*?```\n\n)*)"
                   r"(?P<text>.+?)(?=\n##|\Z)", re.M | re.S)


class Entry(NamedTuple):
    """One message of the page.

    Attributes:
      pattern: the message, with `…` for what differs.
      raises: code that raises it.
      works: code that does not; "" where none is shown.
      text: its cause, the fix and the sitting.
    """

    pattern: str
    raises: str
    works: str
    text: str

    def fits(self, message: str) -> bool:
        """Whether the message is this one; what stands around it does not count."""
        kind, _, words = self.pattern.partition(": ")
        parts = [re.escape(part.strip()) for part in _plain(words or kind).split("…")]
        return re.search(r"[\s\S]*".join(parts), _plain(message)) is not None


def entries(page: Path = PAGE) -> list[Entry]:
    """Returns the entries of the page, in order."""
    found = []
    for match in ENTRY.finditer(page.read_text(encoding="utf-8")):
        code = re.findall(r"```python\n(.*?)```", match["code"], re.S)
        raises, works = [*code, "", ""][:2]
        text = " ".join(match["text"].split())
        found.append(Entry(match["pattern"], raises, works, text))
    return found


def look_up(message: str) -> tuple[list[Entry], list[Entry]]:
    """Returns the entries that fit a message, the closest first, and three near it."""
    every, words = entries(), _words(message)
    fitting = [entry for entry in every if entry.fits(message)]
    fitting.sort(key=lambda entry: -len(entry.pattern))
    others = {entry: len(words & _words(entry.pattern)) for entry in every}
    near = sorted(others, key=lambda entry: -others[entry])
    near = [entry for entry in near if others[entry] > 3 and entry not in fitting]
    return fitting, [] if fitting else near[:3]


def shown(entry: Entry) -> str:
    """Returns an entry as lines for a terminal."""
    text = re.sub(r"\[(.+?)\]\(\.\./(.+?)\)", r"\1, \2", entry.text)
    return f"{entry.pattern}\n  {text.replace('**', '')}"


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Za-z_]{3,}", text)}
