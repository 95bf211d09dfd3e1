"""What a benchmark found: a table to read."""

from typing import NamedTuple


class Table(NamedTuple):
    """One comparison.

    Attributes:
      title: says what was done, and on what.
      rows: by contestant, its figures by the name of their column.
      notes: lines below the table, such as verdicts.
    """

    title: str
    rows: dict[str, dict[str, float]]
    notes: tuple[str, ...] = ()


def text_of(table: Table) -> str:
    """Returns a table as lines of text."""
    columns = list(next(iter(table.rows.values())))
    first = max(map(len, table.rows)) + 2
    lines = [table.title, " " * first + "".join(f"{name:>17}" for name in columns)]
    for name, row in table.rows.items():
        cells = "".join(f"{number(row[column]):>17}" for column in columns)
        lines.append(f"{name:{first}}{cells}")
    return "\n".join([*lines, *table.notes])


def number(value: float) -> str:
    """Returns a figure with the digits that a measurement of time deserves."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
