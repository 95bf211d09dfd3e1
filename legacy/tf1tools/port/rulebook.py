"""Loads all rules and writes their documentation to docs/rules.md.

python -m tf1tools.port.rulebook
"""

import importlib
import pkgutil
from pathlib import Path

from tf1tools.port import rules
from tf1tools.port.rule import RULES, Row, Rule


def load() -> dict[str, Rule]:
    """Imports all rule modules and returns the rules by name."""
    for found in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}."):
        importlib.import_module(found.name)
    return RULES


def page(rule: Rule) -> str:
    """Returns the documentation of a rule as Markdown, with a table of its rows."""
    first, _, rest = rule.page.partition("\n")
    table = [f"| `{row.old}` | {_today(row)} |" for row in rule.table]
    head = ["", "| old | today |", "|---|---|", *table] if table else []
    return "\n".join([f"## {rule.name}", "", first, rest.rstrip(), *head, ""])


def _today(row: Row) -> str:
    """Returns the current name and the remark of a row, as its page shows them."""
    written = f"`{row.new}`" if row.new not in ("", row.old) else ""
    return "; ".join(filter(None, [written, row.words])) or "nothing"


def pages() -> str:
    """Returns the Markdown text of docs/rules.md."""
    head = ("# What `port` changes\n\nMade by `python -m tf1tools.port.rulebook` from "
            "the rules in `tf1tools/port/rules/`. `tf1 port --explain RULE` prints one "
            "page. Each example is a test.\n\nA rule that "
            "*marks* a line leaves it unchanged and adds it to the list of lines that "
            "you have to change yourself.\n")
    return "\n".join([head, *(page(one) for _, one in sorted(load().items()))])


if __name__ == "__main__":
    page_of_all = Path(__file__).parents[2] / "docs" / "rules.md"
    page_of_all.write_text(pages(), encoding="utf-8")
