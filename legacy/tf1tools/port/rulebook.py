"""All rules, and their pages as docs/rules.md has them.

python -m tf1tools.port.rulebook
"""

import importlib
import pkgutil
from pathlib import Path

from tf1tools.port import rules
from tf1tools.port.rule import RULES, Row, Rule


def load() -> dict[str, Rule]:
    """Returns all rules by name; each module makes its own while it is imported."""
    for found in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}."):
        importlib.import_module(found.name)
    return RULES


def page(rule: Rule) -> str:
    """Returns the page of a rule as Markdown: its docstring, its rows as a table."""
    first, _, rest = rule.page.partition("\n")
    table = [f"| `{row.old}` | {_today(row)} |" for row in rule.table]
    head = ["", "| old | today |", "|---|---|", *table] if table else []
    return "\n".join([f"## {rule.name}", "", first, rest.rstrip(), *head, ""])


def _today(row: Row) -> str:
    """Returns a row's name of today and its words, as its page has them."""
    written = f"`{row.new}`" if row.new not in ("", row.old) else ""
    return "; ".join(filter(None, [written, row.words])) or "nothing"


def pages() -> str:
    """Returns all pages."""
    head = ("# What `port` changes\n\nMade by `python -m tf1tools.port.rulebook` from "
            "the rules in `tf1tools/port/rules/`. `tf1 port --explain RULE` prints one "
            "page. Each example is a test.\n")
    return "\n".join([head, *(page(one) for _, one in sorted(load().items()))])


if __name__ == "__main__":
    page_of_all = Path(__file__).parents[2] / "docs" / "rules.md"
    page_of_all.write_text(pages(), encoding="utf-8")
