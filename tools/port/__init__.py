"""A report on old code: every TensorFlow name in it, and what became of it.

    python3 course.py port FILE-OR-FOLDER [--json]
    python3 course.py port --write FILE-OR-FOLDER OUT

The code is read, never run and never changed. Python 2, notebooks and broken files
get a word each. The exit code is 0 where every file was read whole, 1 where a file
could be read in part or not at all (the report says which), 2 where there is nothing
to read.

`--write` makes the folder OUT: a copy in which all that is safe is changed, so that
it runs on `tensorflow.compat.v1` with legacy Keras, and `port.diff`, the changes. It
prints what is left, line by line; the exit code is 1 where something is.
"""

import argparse
import json
import sys
from pathlib import Path

from helpers import lesson


def main(argv: list[str] | None = None) -> int:
    """Prints the report on a file or a folder.

    Args:
      argv: the arguments after `port`; those of the process if `None`.

    Returns:
      The exit code.
    """
    parser = argparse.ArgumentParser(prog="course.py port",
                                     description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path, help="a file, or a folder of .py and .ipynb")
    parser.add_argument("out", type=Path, nargs="?", help="the copy that --write makes")
    parser.add_argument("--write", action="store_true", help="make a changed copy")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    arguments = parser.parse_args(argv)
    if arguments.write != (arguments.out is not None):
        parser.error("--write and the folder OUT go together")
    from tools.port import sources

    try:
        paths = list(sources.files_of(arguments.path))
    except sources.Unreadable as error:
        print(f"{arguments.path}: {error}", file=sys.stderr)
        return 2
    if not paths:
        print(f"{arguments.path}: no .py and no .ipynb in it", file=sys.stderr)
        return 2
    lesson.begin("port")
    from tools.port import fates, plan, report

    plans = plan.plans(sources.Project(paths, arguments.path, fates.exists))
    if arguments.write:
        return _write(arguments.path, arguments.out, plans)
    pages = list(plans.values())
    print(json.dumps(report.as_json(pages), indent=1) if arguments.json
          else report.as_text(pages))
    return 0 if all(one.source.whole for one in pages) else 1


def _write(path: Path, out: Path, plans: dict) -> int:
    from tools.port import write

    if why := write.refusal(path, out):
        print(f"{out}: {why}", file=sys.stderr)
        return 2
    write.write(path, out, plans)
    print(write.what_is_left(plans, path))
    print(f"the copy: {out}; the changes: {out / write.DIFF}")
    return 1 if any(one.left or not one.source.whole for one in plans.values()) else 0
