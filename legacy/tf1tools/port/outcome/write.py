"""Writes a copy of old code with all safe changes, and only those."""

import difflib
import itertools
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tf1tools.output import printable
from tf1tools.port.outcome.report import by_hand
from tf1tools.port.outcome.work import BESIDE, Outcome, Work
from tf1tools.port.reading import files as sources
from tf1tools.port.reading.files import SKIPPED, code_cells, walk
from tf1tools.port.rule import Need

DIFF = "port.diff"
_PACKAGES = {"legacy keras": "tf-keras", "import slim_shim": "tf-slim"}


def refusal(folder: Path, out: Path) -> str:
    """Returns why a copy cannot be written to a folder, or ""."""
    if out.is_symlink() or out.exists() and not (
            out.is_dir() and not any(out.iterdir())):
        return "exists already. Choose a folder that is new or empty."
    if folder.is_dir() and folder.resolve() in [out.resolve(), *out.resolve().parents]:
        return "is inside the folder to copy. Choose a folder outside it."
    return ""


def write(folder: Path, out: Path, work: Work) -> Path:
    """Writes the ported copy atomically, with a patch of all changes.

    Files are copied byte by byte: a file without changes keeps its line endings, its
    encoding and its mode, and a link stays a link. In the patch, the line with the
    positions of each hunk also names the rules that made it.

    Args:
      folder: The original, which is never changed. It may also be a single file.
      out: Destination, which must not exist or must be an empty folder.
      work: Results of the rules.

    Returns:
      The path of the patch: `port.diff`, or another name if the original contains a
        file of that name.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as draft:
        part = Path(draft) / "copy"
        _copy(folder, part)
        changes = [*_changed(part, work), *_put_beside(part, work)]
        patch = _free_name(part)
        (part / patch).write_bytes(b"".join(changes))
        if out.exists():
            out.rmdir()  # `refusal` has checked that it is empty
        part.rename(out)
    return out / patch


def _free_name(copy: Path) -> str:
    """Returns a file name for the patch that the original does not use."""
    names = itertools.chain([DIFF], (f"port-{n}.diff" for n in itertools.count(2)))
    return next(name for name in names if not os.path.lexists(copy / name))


def _copy(folder: Path, to: Path) -> None:
    """Copies a project with its file modes, and copies links as links."""
    to.mkdir()
    if not folder.is_dir():
        shutil.copy(folder, to)
        return
    for path in walk(folder, _passed_over):
        new = to / path.relative_to(folder)
        if path.is_symlink():
            new.symlink_to(os.readlink(path))
        elif path.is_dir():
            new.mkdir()
        elif os.access(path, os.R_OK):  # else `what_is_left` names it
            shutil.copy2(path, new)


def _changed(copy: Path, work: Work) -> Iterator[bytes]:
    """Writes the changed files and yields the lines of the patch."""
    for file, one in work.outcomes.items():
        if one.is_changed:
            name = file.path.relative_to(work.project.root)
            new = new_bytes(one)
            (copy / name).write_bytes(new)
            yield from _difference(file.path.read_bytes(), new, name, one.by)


def _put_beside(copy: Path, work: Work) -> Iterator[bytes]:
    """Copies the support files and yields the lines of the patch."""
    for path, rules in sorted(work.beside.items()):
        raw = (BESIDE / path.name).read_bytes()
        inside = path.relative_to(work.project.root)
        (copy / inside).write_bytes(raw)
        yield from _difference(None, raw, inside, [(0, name) for name in rules])


def _passed_over(path: Path) -> bool:
    """Returns whether a path is left out of the copy, such as a cache or pipe."""
    return path.name in SKIPPED or path.name == ".git" or not (
        path.is_symlink() or path.is_file() or path.is_dir())


def new_bytes(one: Outcome) -> bytes:
    """Returns the new contents of a changed file in its original encoding."""
    file = one.file
    if file.path.suffix != ".ipynb":
        return one.texts[0].encode(file.decoded.coding)
    old = file.decoded.text
    notebook = sources.notebook(old)
    for (_, cell, key), text in zip(code_cells(notebook), one.texts, strict=True):
        cell[key] = text if isinstance(cell[key], str) else _lines(text)
    kernel = notebook.get("metadata", {}).get("kernelspec", {})
    if one.is_python2 and kernel.get("name") == "python2":
        kernel.update(name="python3", display_name="Python 3")
    indent = re.match(r"\{\s*\n( *)", old)
    text = json.dumps(notebook, indent=len(indent[1]) if indent else None,
                      ensure_ascii=old.isascii())
    # Half of a character, which JSON can write and UTF-8 cannot, stays escaped.
    return (text + ("\n" if old.endswith("\n") else "")).encode(
        errors="backslashreplace")


def _lines(text: str) -> list[str]:
    """Splits a text at newlines and keeps the newline characters."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _difference(old: bytes | None, new: bytes, name: Path,
                by: list[tuple[int, str]]) -> Iterator[bytes]:
    """Yields the lines of a patch that turns one file into the other."""
    before, after = (re.findall(rb"[^\n]*\n|[^\n]+", text or b"")
                     for text in (old, new))
    named = [b"/dev/null" if text is None else _quoted(f"{side}/{name.as_posix()}")
             for side, text in (("a", old), ("b", new))]
    for line in difflib.diff_bytes(difflib.unified_diff, before, after, *named):
        if found := re.match(rb"@@ -(\d+)(?:,(\d+))? .*@@", line):
            first, count = int(found[1]), int(found[2] or 1)
            rules = {rule for at, rule in by if not at or first <= at < first + count}
            line = " ".join([found[0].decode(), *sorted(rules)]).encode() + b"\n"
        yield line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"


def _quoted(name: str) -> bytes:
    """Returns a file name as `patch` expects it, quoted in the style of git."""
    raw = os.fsencode(name)
    if re.fullmatch(rb"[\w./+-]+", raw):
        return raw
    inside = re.sub(rb'[\x00-\x1f"\\\x7f-\xff]', lambda one: b"\\%03o" % one[0][0], raw)
    return b'"' + inside + b'"'


def packages(work: Work) -> list[str]:
    """Returns the packages that a copy needs in addition to TensorFlow."""
    needs = {need.what for need in work.of(Need)}
    return [name for what, name in _PACKAGES.items() if what in needs]


def links_out(folder: Path) -> list[Path]:
    """Returns the links that are broken or lead out of the folder."""
    found = [path for path in walk(folder, _passed_over) if path.is_symlink()]
    root = folder.resolve()
    return [path for path in found
            if not path.exists() or not path.resolve().is_relative_to(root)]


def what_is_left(path: Path, work: Work) -> str:
    """Lists the lines of each file that must be changed by hand.

    The program has not been run.

    Args:
      path: Folder or file that was copied.
      work: Results of the rules.
    """
    root, lines = work.project.root, []
    if path.is_dir():
        lines += [f"{one.relative_to(root)}: a link that leads out of the folder, so "
                  "it was copied as a link" for one in links_out(root)]
        lines += [f"{one.relative_to(root)}: not copied: it may not be read"
                  for one in walk(root, _passed_over)
                  if not one.is_symlink() and not os.access(one, os.R_OK)]
    for file, one in work.outcomes.items():
        lines.append(f"{file.path.relative_to(root)}: " + (
            f"lines to change by hand: {len(one.left)}" if one.left else
            "not read: " + file.words[0] if not file.whole else
            "no known obstacle is left; run it" if not one.waits else
            f"no known obstacle is left here; first look at {' and '.join(one.waits)}"))
        lines += [f"  {by_hand(*found)}" for found in one.left]
    return "\n".join(map(printable, lines))
