"""A copy of old code in which what is safe to change is changed."""

import difflib
import json
import shutil
import tempfile
from pathlib import Path

from tools.port.edits import applied
from tools.port.plan import Plan
from tools.port.sources import SKIPPED, code_cells

BESIDE = Path(__file__).parent / "beside"
DIFF = "port.diff"


def refusal(folder: Path, out: Path) -> str:
    """Returns why a copy cannot go to a place, or ""."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        return "is there already: name a folder that is new or empty"
    if folder.is_dir() and folder.resolve() in [out.resolve(), *out.resolve().parents]:
        return "lies in the folder that is to be copied"
    return ""


def write(folder: Path, out: Path, plans: dict[Path, Plan]) -> None:
    """Writes the copy, whole or not at all, and `port.diff` in it.

    Args:
      folder: the original; never touched. A file is copied alone.
      out: where the copy goes; it must not be there, or be empty.
      plans: what to change in each file.
    """
    root = folder if folder.is_dir() else folder.parent
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as draft:
        part = Path(draft) / "copy"
        part.mkdir()
        if folder.is_dir():
            shutil.copytree(folder, part, dirs_exist_ok=True, ignore=_passed_over)
        changes = []
        for path, plan in plans.items():
            old, new = _texts(path, plan)
            place = part / path.relative_to(root)
            place.write_text(new, encoding="utf-8")
            changes += difflib.unified_diff(
                old.splitlines(True), new.splitlines(True),
                f"a/{path.relative_to(root)}", f"b/{path.relative_to(root)}")
            for name in plan.beside:
                shutil.copy(BESIDE / name, place.parent / name)
        text = "".join(line if line.endswith("\n") else
                       f"{line}\n\\ No newline at end of file\n" for line in changes)
        (part / DIFF).write_text(text, encoding="utf-8")
        if out.exists():
            out.rmdir()  # it is empty: `refusal` has seen to that
        part.rename(out)


def _passed_over(folder: str, names: list[str]) -> set[str]:
    """What no copy needs, and what is no file: pipes and sockets."""
    return {name for name in names if name in SKIPPED or name == ".git" or not (
        (Path(folder) / name).is_file() or (Path(folder) / name).is_dir())}


def _texts(path: Path, plan: Plan) -> tuple[str, str]:
    """Returns the text of a file before and after, a notebook's as it is stored."""
    new = [applied(applied(part.text, part.edits), edits) if part.tree else part.text
           for part, edits in zip(plan.source.parts, plan.edits, strict=True)]
    if path.suffix != ".ipynb" or not plan.source.parts:
        old = path.read_text("utf-8", errors="replace")
        return old, new[0] if plan.source.parts and any(
            [*plan.source.parts[0].edits, *plan.edits[0]]) else old
    notebook = json.loads(path.read_text("utf-8"))
    old = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    for (_, cell, key), text in zip(code_cells(notebook), new, strict=True):
        cell[key] = text if isinstance(cell[key], str) else text.splitlines(True)
    kernel = notebook.get("metadata", {}).get("kernelspec", {})
    if plan.python2 and kernel.get("name") == "python2":
        kernel.update(name="python3", display_name="Python 3")
    return old, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def what_is_left(plans: dict[Path, Plan], root: Path) -> str:
    """Returns, file by file, what is ready and which lines are for the reader."""
    lines = []
    for path, plan in plans.items():
        name = path.relative_to(root) if path != root else path.name
        waits = [one.name for one in plan.source.neighbours
                 if plans[one].left or not plans[one].source.whole]
        lines.append(f"{name}: " + (
            f"{len(plan.left)} left" if plan.left else
            f"ready when {' and '.join(waits)} is" if waits else
            "ready" if plan.source.whole else "not read: " + plan.source.words[0]))
        for left in plan.left:
            cell = "" if left.cell is None else f"[{left.cell}] "
            lines.append(f"  {cell}line {left.line}: {left.words}")
    return "\n".join(lines)
