"""Reports on each TensorFlow name in old code, or writes a ported copy.

    tf1 port FILE-OR-FOLDER [--json]
    tf1 port --write FILE-OR-FOLDER OUT [--try "python PROGRAM.py ARGUMENTS"]
    tf1 port --explain [RULE]

The report covers programs of Python 2 and 3 and notebooks. The code is only read: it is
neither run nor changed. The exit code is 0 if every file was read completely, 1 if a
file could be read only in part or not at all (the report says which), and 2 if there is
nothing to read.

`--write` creates the folder OUT with a copy of the program and the file `port.diff`.
All safe changes are made in the copy, so that it runs on `tensorflow.compat.v1` with
legacy Keras. Lines that you have to change yourself are printed, each with the rule
that found it. If there are any, the exit code is 1.

`--try` runs a program of the copy under `tf1 watch`, with limits on time, memory and
disk space, and without a network if the system permits that. It prints whether the
program ran, or else the error, its line and the explanation of `tf1 explain`. The exit
code is 0 only if the program ran.

`--explain` prints the documentation of a rule: what it changes, and why.
"""

import argparse
import json
import sys
from pathlib import Path

from tf1tools.arguments import Parser, seconds
from tf1tools.output import printable


def main(argv: list[str] | None = None) -> int:
    """Runs `tf1 port` and returns its exit code.

    Args:
      argv: Arguments after `port`. By default, those of the process.
    """
    arguments = _arguments(argv)
    if arguments.explain is not None:
        return _explain(arguments.explain)
    from tf1tools.port.outcome import report
    from tf1tools.port.outcome.work import work
    from tf1tools.port.reading.files import Unreadable

    try:
        done = work(arguments.path)
    except Unreadable as error:
        print(printable(f"tf1 port: {error}"), file=sys.stderr)
        return 2
    if arguments.write:
        code = _write(arguments.path, arguments.out, done)
        return code if not arguments.script or code == 2 else _try(arguments, done)
    pages = report.pages(done)
    print(json.dumps(report.as_json(pages), indent=1) if arguments.json
          else report.as_text(pages))
    return 0 if all(page.file.whole for page in pages) else 1


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    """Parses the command line and rejects invalid combinations of options."""
    parser = Parser(prog="tf1 port", description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path, nargs="?",
                        help="a file, or a folder with .py and .ipynb files")
    parser.add_argument("out", type=Path, nargs="?", help="folder for the copy")
    parser.add_argument("--write", action="store_true",
                        help="write a copy with all safe changes")
    parser.add_argument("--try", metavar="COMMAND", dest="script", default="",
                        help="run a program of the copy and report the result")
    parser.add_argument("--seconds", type=seconds, default=120,
                        help="seconds after which --try stops the program (120)")
    parser.add_argument("--explain", metavar="RULE", nargs="?", const="",
                        help="explain a rule; without a name, list all rules")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_args(argv)
    if arguments.write != (arguments.out is not None):
        parser.error(
            "The option --write requires the folder OUT, and OUT requires --write, as "
            "in: tf1 port FILE-OR-FOLDER --write OUT"
        )
    if arguments.explain is None and arguments.path is None:
        parser.error("Nothing to port. Pass a file or a folder.")
    if arguments.script and not arguments.write:
        parser.error("The option --try requires --write, because it runs the copy.")
    return arguments


def _try(arguments: argparse.Namespace, done) -> int:
    from tf1tools.port.outcome import trial

    if not (script := trial.script_of(arguments.script)):
        print('The option --try requires a command, such as "python PROGRAM.py '
              'ARGUMENTS".',
              file=sys.stderr)
        return 2
    ended = trial.tried(arguments.out, script, done, arguments.seconds)
    print("\n".join(printable(line.expandtabs())
                    for line in ended.words.split("\n")))
    return 0 if ended.ran else 1


def _write(path: Path, out: Path, done) -> int:
    from tf1tools.port.outcome import write

    if why := write.refusal(path, out):
        print(printable(f"{out} {why}"), file=sys.stderr)
        return 2
    try:
        patch = write.write(path, out, done)
    except OSError as error:
        cause = f"{error.filename}: {error.strerror}" if error.filename else error
        print(printable(f"{out} could not be written ({cause}). Nothing was kept. Free "
                        "some space, or choose another folder."), file=sys.stderr)
        return 2
    print(write.what_is_left(path, done))
    print(printable(f"The copy is in {out}, and the changes are in {patch}."))
    if packages := write.packages(done):
        print(
            f"The copy requires {' and '.join(packages)}. Install with: pip install "
            f"{' '.join(packages)}"
        )
    if program := done.project.likely_start:
        program = out / program.path.relative_to(done.project.root)
        print(printable(f"To run a program of the copy: tf1 watch {program}"),
              flush=True)
    return 1 if any(one.left or not file.whole
                    for file, one in done.outcomes.items()) else 0


def _explain(name: str) -> int:
    from tf1tools.port import rulebook

    rules = rulebook.load()
    if name in rules:
        print(rulebook.page(rules[name]))
        return 0
    if name:
        print(f"Unknown rule {name}. The rules are:", file=sys.stderr)
    width = max(map(len, rules))
    for one in sorted(rules):
        print(f"{one:{width}s}  {rules[one].summary}")
    return 2 if name else 0
