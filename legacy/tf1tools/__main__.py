"""Command line of the tools: `tf1 COMMAND`, or `python -m tf1tools COMMAND`."""

import ast
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import NamedTuple

from tf1tools.arguments import did_you_mean
from tf1tools.output import closing_quietly, printable

CHECKOUT = Path(__file__).resolve().parents[2]


class Command(NamedTuple):
    """Command of `tf1`, with its module, its purpose and its dependencies.

    Attributes:
      module: Module with the function `main(arguments)`.
      purpose: Description for the list of commands.
      packages: Packages that the command needs besides Python.
    """

    module: str
    purpose: str
    packages: tuple[str, ...] = ()


COMMANDS = {
    "port": Command("tf1tools.port.command",
                    "report on old code, or write a copy that runs on TensorFlow 2"),
    "explain": Command("tf1tools.messages.command",
                       "explain an error message or a log, and suggest a fix"),
    "watch": Command("tf1tools.watch.command",
                     "run an old program and explain why it hangs or fails",
                     ("tensorflow", "helpers")),
    "weights": Command("tf1tools.weights.command",
                       "convert the weights of an old file to other formats",
                       ("numpy", "tqdm", "tensorflow", "helpers")),
    "describe": Command("tf1tools.describe",
                        "describe the contents of a file of TensorFlow 1 or Keras",
                        ("tensorflow", "helpers")),
}


def main(arguments: list[str] | None = None) -> int:
    """Runs the `tf1` command that the arguments name and returns its exit code.

    Args:
      arguments: The command's name and its arguments. By default, those of the process.

    Returns:
      2 if there is no such command, 1 if the command needs a missing package, and
      otherwise the exit code of the command.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    name, rest = (arguments or [""])[0], arguments[1:]
    if name == "watch":  # the program that it runs handles its own output
        return _run(name, rest)
    with closing_quietly():
        try:
            return _run(name, rest)
        except OSError as error:  # such as a name that is too long
            cause = f"{error.filename}: {error.strerror}" if error.filename else error
            print(printable(f"tf1 {name}: {cause}"), file=sys.stderr)
            return 1


def _run(name: str, rest: list[str]) -> int:
    if name in ("", "-h", "--help", "help"):
        print(usage())
        return 0
    if name not in COMMANDS:
        # The course's own command is called doctor.
        hint = did_you_mean("explain" if name == "doctor" else name, COMMANDS)
        print(f"tf1: There is no command {name!r}. {hint}".rstrip(), file=sys.stderr)
        print(f"\n{usage()}", file=sys.stderr)
        return 2
    command = COMMANDS[name]
    if "helpers" in command.packages and (CHECKOUT / "helpers").is_dir():
        sys.path.append(str(CHECKOUT))
    if missing := [package for package in command.packages
                   if importlib.util.find_spec(package) is None]:
        if {"-h", "--help"} & set(rest[:1]):
            print(_documentation(command.module))
            return 0
        print(f"tf1 {name}: {_advice(name, missing)}", file=sys.stderr)
        return 1
    return importlib.import_module(command.module).main(rest)


def usage() -> str:
    """Returns the usage message, which lists all commands with their purposes."""
    lines = [f"  {name:10s}{command.purpose}" for name, command in COMMANDS.items()]
    return "\n".join(["usage: tf1 COMMAND [ARGUMENTS]", "", *lines, "",
                      "The exit code is 0 if the command did its task, 1 if it could "
                      "not, and 2 if", "it was called incorrectly. For more about a "
                      "command, run tf1 COMMAND --help."])


def _documentation(module: str) -> str:
    """Returns a command's docstring without importing its module."""
    path = Path(importlib.util.find_spec(module).origin)
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def _advice(name: str, missing: list[str]) -> str:
    """Returns a message that names missing packages and a command that works."""
    line = f"python3 course.py {name} ..." if name in ("watch", "weights") else (
        f".venv/bin/python legacy/tf1.py {name} ...")
    place = CHECKOUT if (CHECKOUT / "course.py").exists() else "a clone of the course"
    return (f"The command needs {', '.join(missing)}, which this Python does not have. "
            f"In {place}, run `{line}`, or install both packages of the checkout with "
            "`pip install . ./legacy`.")


if __name__ == "__main__":
    sys.exit(main())
