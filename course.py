#!/usr/bin/env python3
"""Command-line entry point of the course, which needs only Python to start.

  python3 course.py COMMAND [ARGUMENTS]

The first call creates .venv from requirements.txt and needs the network once. `test`,
`book` and `slides` install more packages. All later calls work offline. For more about
a command, run `python3 course.py COMMAND --help`.
"""

import ast
import difflib
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # even with `python -I`

from tools.command import take_output  # noqa: E402
from tools.environment import (  # noqa: E402
    CALLED_FROM,
    Problem,
    check_gpu,
    check_machine,
    is_set_up,
    set_up,
    venv_python,
)

# These commands need more packages than a learner. They are installed on first use.
OF_DEVELOPERS = ("test", "book", "slides")

# In these commands, paths are relative to the folder in which the user called them.
OF_CALLER = ("run", "progress", "handout", "wheels")

# These are commands of `tf1`, the tools for old code. They run in the user's folder.
OF_TF1 = ("port", "weights", "watch")
TF1 = ROOT / "legacy" / "tf1.py"

# Each command is a module with a function `main`: its name, its module, and what it
# does. `test_course.py` compares docs/commands.md with this table.
COMMANDS = {
    "lab": ("tools.lab", "open the course in JupyterLab"),
    "test": ("tools.run_tests", "run all checks of CI, or only the parts named"),
    "run": ("tools.run_lessons", "execute lessons and print how long each one takes"),
    "tensorboard": ("tools.serve_graphs", "show prebuilt/ and logs/ in TensorBoard"),
    "handout": ("tools.handout", "write notebooks that contain only the exercises"),
    "wheels": ("tools.wheels", "fill a folder from which a class installs the course"),
    "book": ("tools.book", "build the course as a book of web pages"),
    "slides": ("tools.slides", "convert lessons to slides with speaker notes"),
    "progress": ("tools.progress", "show which exercises you have solved"),
    "port": ("legacy.tf1tools.port.command",
             "report on old code, or write a copy that runs on TensorFlow 2"),
    "weights": ("legacy.tf1tools.weights.command",
                "convert the weights of an old file to other formats"),
    "watch": ("legacy.tf1tools.watch.command",
              "run an old program and explain why it hangs or fails"),
    "doctor": ("tools.doctor", "check this machine and suggest fixes"),
    "bench": ("benchmarks", "compare the course's methods with alternatives"),
}


def python(*arguments, folder=ROOT):
    """Runs a module or script with the Python of `.venv` and returns its exit code.

    A module, `-m NAME`, is run by `tools.command`.

    Raises:
      KeyboardInterrupt: If Ctrl-C ended the process. It is raised after the process has
        ended.
    """
    run = ["-m", "tools.command"] if arguments[0] == "-m" else arguments[:1]
    command = [str(venv_python()), *map(str, [*run, *arguments[1:]])]
    # Child processes inherit this. From 3.13 on, Python colours tracebacks even in a
    # file if a variable asks for colours.
    environment = dict(os.environ, PYTHONNOUSERSITE="1", PYTHONUTF8="1",
                       PYTHON_COLORS="0")
    if folder == ROOT:  # with compiled files, TensorFlow takes 4 s to import, not 10
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(command, cwd=str(folder), env=environment)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    interrupted = False
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            interrupted = True  # the child gets Ctrl-C too and decides how to end
            continue
        if interrupted and code:
            raise KeyboardInterrupt
        return code


def usage():
    lines = [f"  {name:12s} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join([__doc__.strip(), "", *lines])


def documentation(name):
    """Returns the docstring of a command's module without importing it."""
    parts = COMMANDS[name][0].split(".")
    path = ROOT.joinpath(*parts).with_suffix(".py")
    if not path.exists():
        path = ROOT.joinpath(*parts, "__init__.py")
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def take_wheels(words):
    """Removes `--wheels FOLDER` from arguments and returns the folder, or "".

    An address of a folder on a local network stays as it is.

    Raises:
      Problem: If there is no folder after the option.
    """
    for place, word in enumerate(words):
        option, _, folder = word.partition("=")
        if option == "--wheels":
            following = words[place + 1: place + 2]
            if not folder and following and not following[0].startswith("-"):
                folder = words.pop(place + 1)
            if not folder:
                raise Problem("The option --wheels needs the folder that `course.py "
                              "wheels` has filled, or its address.")
            words.pop(place)
            return folder if "://" in folder else os.path.abspath(folder)
    return ""


def unknown(name):
    """Prints what the user may have meant by the name of a command."""
    near = difflib.get_close_matches(name, COMMANDS, 1, cutoff=0.7)
    if name == "explain":
        near = ["doctor"]  # its name in tf1tools
    if near:
        print(f"course.py: There is no command {name}. Did you mean {near[0]}? Run "
              "python3 course.py to see all commands.", file=sys.stderr)
        return
    print(usage())
    print(f"course.py: There is no command {name}. The list above shows all commands.",
          file=sys.stderr)


def main(arguments):
    name, rest = (arguments or [""])[0], arguments[1:]
    if name in ("", "-h", "--help", "help"):
        print(usage())
        return 0
    if name not in COMMANDS:
        unknown(name)
        return 2
    if name == "doctor":  # runs even if the set-up fails
        run, program = (str(ROOT / "tools" / f"{name}.py")
                        for name in ("command", "doctor"))
        return subprocess.call([sys.executable, run, program, *rest])
    if not is_set_up() and {"-h", "--help"} & set(rest):
        print(documentation(name))
        return 0
    if name == "port" and not is_set_up():  # it needs only Python
        return subprocess.call([sys.executable, str(TF1), name, *rest])
    values = {word.rpartition("=")[2] for word in rest}
    more = name == "weights" and values & {"safetensors", "onnx"}
    extras = ["dev"] if name in OF_DEVELOPERS or more else []
    try:
        check_machine()
        wheels = take_wheels(rest) if name == "lab" else ""
        if name == "lab" and "--gpu" in rest:
            rest.remove("--gpu")
            check_gpu()
            extras.append("gpu")
        set_up(*extras, wheels=wheels)
        if name == "lab":  # a notebook in the user's folder
            rest = [os.path.abspath(word) if word.endswith(".ipynb") and
                    os.path.exists(word) else word for word in rest]
        if name in OF_CALLER:
            os.environ[CALLED_FROM] = os.getcwd()
        if name in OF_TF1:
            return python(TF1, name, *rest, folder=os.getcwd())
        return python("-m", COMMANDS[name][0], *rest)
    except Problem as problem:
        print(f"course.py: {problem}", file=sys.stderr)
    except OSError as error:
        print(f"course.py: {error}. Fix this, then run the same command again.",
              file=sys.stderr)
    except KeyboardInterrupt:
        print("\ncourse.py: stopped", file=sys.stderr)
    return 1


if __name__ == "__main__":
    take_output()
    try:
        status = main(sys.argv[1:])
    finally:
        sys.stdout.flush()
    sys.exit(status)
