"""Folder trees: listing, removal, and resolution of paths with symbolic links."""

import os
from collections.abc import Iterator
from pathlib import Path


def everything_in(folder: Path) -> Iterator[Path]:
    """Yields every file and folder below a folder, parents first.

    Symbolic links are yielded but not followed. Because the function does not use
    recursion, the depth of the tree is not limited.
    """
    ahead = [folder]
    while ahead:
        try:
            entries = sorted(os.scandir(ahead.pop()), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                ahead.append(Path(entry.path))


def remove_tree(folder: Path) -> None:
    """Removes a folder with its contents, without following symbolic links.

    Raises:
      OSError: If something cannot be removed.
    """
    folders = [folder]
    for path in everything_in(folder):
        if path.is_dir() and not path.is_symlink():
            folders.append(path)
        else:
            path.unlink()
    for each in reversed(folders):  # the contents of a folder before the folder
        each.rmdir()


def place_of(path: Path) -> Path:
    """Returns the location of a file or a link, without following the link itself."""
    path = path.absolute()
    return path.parent.resolve() / path.name


def ways_to(path: Path) -> set[Path]:
    """Returns all folders and links that a path passes through."""
    seen, ahead = set(), [path.absolute()]
    while ahead:
        current = ahead.pop()
        for place in map(place_of, [current, *current.parents]):
            if place not in seen:
                seen.add(place)
                if place.is_symlink():
                    ahead.append(place.parent / os.readlink(place))
    return seen
