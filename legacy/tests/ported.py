"""Old programs in a folder, and what `port` makes of them."""

from pathlib import Path

from tf1tools.port.outcome import write
from tf1tools.port.outcome.work import Work, work


def written(folder: Path, files: dict[str, str]) -> Path:
    """Writes files by their names, and returns the folder that holds them."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def ported(files: dict[str, str], folder: Path) -> tuple[Work, Path]:
    """Returns what the rules say of files, and the folder of their copies."""
    done = work(written(folder / "old", files))
    write.write(folder / "old", folder / "new", done)
    return done, folder / "new"


def copies(files: dict[str, str], folder: Path) -> tuple[Work, dict[str, str]]:
    """Returns what the rules say of files, and the texts of their copies."""
    done, new = ported(files, folder)
    return done, {name: (new / name).read_text() for name in files}
