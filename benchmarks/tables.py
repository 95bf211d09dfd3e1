"""What a benchmark found: a table to read, and JSON, with the machine's facts."""

import json
import os
import platform
from importlib import metadata
from pathlib import Path
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


def machine() -> dict[str, object]:
    """Returns what the figures depend on: the kind of machine, never its name."""
    return {
        "cores": os.cpu_count(),
        "cpu": cpu_model(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "tensorflow": metadata.version("tensorflow"),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def cpu_model() -> str:
    """Returns the processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.split(":", 1)[1] for line in lines if line.startswith("model name")]
    return models[0].strip() if models else platform.processor()


def write(folder: Path, name: str, table: Table, facts: dict[str, object]) -> Path:
    """Writes the table of one benchmark as JSON, and returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    content = {"benchmark": name, **facts, **table._asdict()}
    file.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return file
