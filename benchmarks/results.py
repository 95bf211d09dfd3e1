"""What a benchmark found: a table to read, a plot, and JSON, with the machine's facts.

Nothing here names the machine or a folder of it.
"""

import json
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

OURS, THEIRS, LIMIT = "#0072b2", "#9a9a9a", "#e69f00"


class Table(NamedTuple):
    """One comparison.

    Attributes:
      title: says what was done, and on what.
      rows: by contestant, its figures by the name of their column; the first
        column is drawn.
      ours: which contestants are this course's.
      notes: lines below the table, such as verdicts.
    """

    title: str
    rows: dict[str, dict[str, float]]
    ours: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def text_of(table: Table) -> str:
    """Returns a table as lines of text."""
    columns = list(dict.fromkeys(key for row in table.rows.values() for key in row))
    first = max(map(len, table.rows), default=0) + 2
    wide = [max(len(column), 9) + 2 for column in columns]
    lines = [table.title, " " * first + "".join(
        f"{column:>{width}}" for column, width in zip(columns, wide, strict=True)
    )]
    for name, row in table.rows.items():
        cells = [number(row[c]) if c in row else "" for c in columns]
        lines.append(f"{name:{first}}" + "".join(
            f"{cell:>{width}}" for cell, width in zip(cells, wide, strict=True)
        ))
    return "\n".join([*lines, *table.notes])


def number(value: float) -> str:
    """Returns a figure with the digits that a measurement of time deserves."""
    if value and abs(value) < 0.1:
        return f"{value:.4f}"
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


def write(
    folder: Path, name: str, tables: Sequence[Table], facts: dict[str, object]
) -> list[Path]:
    """Writes the tables of one benchmark as text, JSON and PNG.

    Args:
      folder: made if it is not there.
      name: of the benchmark, and of its files.
      tables: as they came out.
      facts: of the machine and the run, as JSON takes them.

    Returns:
      The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text, data, plot = (folder / f"{name}.{end}" for end in ("txt", "json", "png"))
    heads = [f"{key}: {value}" for key, value in facts.items()]
    text.write_text(
        "\n\n".join(["\n".join(heads), *map(text_of, tables)]) + "\n", "utf-8"
    )
    content = {"benchmark": name, **facts, "tables": [t._asdict() for t in tables]}
    data.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    draw(plot, name, tables, facts)
    return [text, data, plot]


def draw(
    path: Path, name: str, tables: Sequence[Table], facts: dict[str, object]
) -> None:
    """Draws the first column of each table as bars."""
    from matplotlib.figure import Figure

    bars = [len(table.rows) for table in tables]
    figure = Figure(figsize=(7.2, 1.0 + sum(0.9 + 0.28 * n for n in bars)),
                    layout="constrained")
    axes = figure.subplots(len(tables), 1, squeeze=False,
                           gridspec_kw={"height_ratios": [n + 2 for n in bars]})
    for ax, table in zip(axes[:, 0], tables, strict=True):
        draw_bars(ax, table)
    figure.suptitle(f"{name}: {facts['cpu']}, {facts['cores']} cores", fontsize=9)
    figure.savefig(path, dpi=120)


def draw_bars(ax, table: Table) -> None:
    """Draws one table's first column."""
    column = next(iter(next(iter(table.rows.values()))))
    values = [row.get(column, 0.0) for row in table.rows.values()]
    colours = [
        OURS if name in table.ours else LIMIT if name.startswith("limit") else THEIRS
        for name in table.rows
    ]
    bars = ax.barh(list(table.rows), values, color=colours)
    ax.bar_label(bars, [number(value) for value in values], padding=3, fontsize=8)
    ax.margins(x=0.15)
    ax.invert_yaxis()
    ax.set_title(table.title, fontsize=9, loc="left")
    ax.set_xlabel(column, fontsize=8)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
