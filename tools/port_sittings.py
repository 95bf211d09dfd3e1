"""Writes the table that tells `tf1 port` which lesson covers each name.

python -m tools.port_sittings
"""

import re

from helpers.files import ROOT
from tools import notebook as nb

OUT = ROOT / "legacy" / "tf1tools" / "port" / "table" / "sittings.txt"


def made() -> str:
    """Returns one line per TensorFlow name, with the lesson that covers it."""
    lessons: dict[str, str] = {}
    for path in nb.lessons(ROOT):
        for name in re.findall(r"\btf1?\.([A-Za-z][\w.]*\w)", path.read_text("utf-8")):
            lessons.setdefault(name, nb.number(path))
    page = (ROOT / "docs" / "names.md").read_text("utf-8")
    lessons |= dict(re.findall(r"^\| `tf\.([\w.]+)`.*?\[(\d\d[a-z]?)", page, re.M))
    return "".join(f"{name} {number}\n" for name, number in sorted(lessons.items()))


if __name__ == "__main__":
    OUT.write_text(made(), encoding="utf-8")
