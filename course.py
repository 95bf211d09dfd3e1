#!/usr/bin/env python3
"""Command-line entry point of the course, which needs only Python to start.

  python3 course.py COMMAND [ARGUMENTS]

The first call creates .venv from requirements.txt and needs the network once. `test`,
`book` and `slides` install more packages. All later calls work offline. For more about
a command, run `python3 course.py COMMAND --help`.
"""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # however Python was started

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

# What these need beyond what a learner needs is fetched when they are first called.
OF_DEVELOPERS = ("test", "book", "slides")

# Paths of these count from where the command was called.
OF_CALLER = ("run", "progress", "handout")

# These are commands of `tf1`, the tools for old code; it runs in the caller's folder.
OF_TF1 = ("port", "weights", "watch")
TF1 = ROOT / "legacy" / "tf1.py"

# Each command is a program with a `main` of its own: what it is called, where it lives,
# and what it does. `test_course.py` compares docs/commands.md with it.
COMMANDS = {
    "lab": ("tools.lab", "open the course in JupyterLab"),
    "test": ("tools.run_tests", "run everything that CI runs, or the parts named"),
    "run": ("tools.run_lessons", "execute lessons, print the seconds of each"),
    "tensorboard": ("tools.serve_graphs", "look at prebuilt/ and logs/"),
    "handout": ("tools.handout", "write the exercises alone, to hand out"),
    "book": ("tools.book", "build the readable pages"),
    "slides": ("tools.slides", "lessons as slides, each one page with notes"),
    "progress": ("tools.progress", "which exercises you have solved"),
    "port": ("legacy.tf1tools.port.command",
             "report on old code, or write a copy that runs today"),
    "weights": ("legacy.tf1tools.weights.command",
                "convert the weights of an old file for other programs"),
    "watch": ("legacy.tf1tools.watch.command",
              "run an old program, and say why it hangs or fails"),
    "doctor": ("tools.doctor", "what is wrong with this machine, and how to fix it"),
    "bench": ("benchmarks", "our ways beside their rivals, each in its own process"),
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
    # What it starts inherits this: from 3.13 on Python colours a traceback, even in a
    # file, where somebody asks for colours.
    environment = dict(os.environ, PYTHONNOUSERSITE="1", PYTHONUTF8="1",
                       PYTHON_COLORS="0")
    if folder == ROOT:  # TensorFlow is imported in 4 s where it is compiled, else in 10
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(command, cwd=str(folder), env=environment)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    interrupted = False
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            interrupted = True  # Ctrl-C reaches the child too; it decides how to end
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


def main(arguments):
    name, rest = (arguments or [""])[0], arguments[1:]
    if name not in COMMANDS:
        print(usage())
        if name in ("", "-h", "--help"):
            return 0
        print(f"course.py: there is no command {name}", file=sys.stderr)
        return 2
    if name == "doctor":  # runs where the set-up does not
        run, program = (str(ROOT / "tools" / f"{name}.py")
                        for name in ("command", "doctor"))
        return subprocess.call([sys.executable, run, program, *rest])
    if not is_set_up() and {"-h", "--help"} & set(rest):
        print(documentation(name))
        return 0
    if name == "port" and not is_set_up():  # its tables are data: nothing is needed
        return subprocess.call([sys.executable, str(TF1), name, *rest])
    words = {word.rpartition("=")[2] for word in rest}
    more = name == "weights" and words & {"safetensors", "onnx"}
    extras = ["dev"] if name in OF_DEVELOPERS or more else []
    try:
        check_machine()
        if name == "lab" and "--gpu" in rest:
            rest.remove("--gpu")
            check_gpu()
            extras.append("gpu")
        set_up(*extras)
        if name == "lab":  # a notebook that lies where the caller stands
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
        print(f"course.py: {error}: fix that, then run the same command again",
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
