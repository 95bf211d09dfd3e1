"""One answer and its check, in the process of the answer.

Who shares a process with a check can fool it, in the end: this is for a class that does
not cheat on purpose. What takes no skill is noticed: a function of ours, of NumPy,
`json` or Python itself that was replaced is named, and the verdict is read from the
claims and not from what is printed.
"""

import builtins
import contextlib
import dis
import importlib
import json
import math
import os
import sys
import tempfile
import traceback
import types
from pathlib import Path

import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from helpers.files import ROOT
from tools.exercises import needed


class Shell(InteractiveShell):
    """Runs a cell as a notebook does: with magics, `display` and `await`."""

    system = InteractiveShell.system_raw  # without a terminal of its own

    def enable_gui(self, gui=None):
        """There is no window."""

    def showtraceback(self, *args, **options):
        """The verdict says it."""

    showsyntaxerror = showtraceback


def run(task: dict, workplace: str, way) -> None:
    """Sends the verdict on one answer; what the answer prints goes nowhere.

    Args:
      task: what `try_answer` takes; `seconds` and `memory`, the limits.
      workplace: the folder that is the answer's own.
      way: the end of a pipe.
    """
    dumps = json.dumps  # before the answer can replace it
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    try:
        _move_in(Path(workplace), task["seconds"], task["memory"])
        verdict = try_answer(task)
    except BaseException as error:  # ours, not the answer's
        says = f"{type(error).__name__}: {error}"
        verdict = {"result": "not graded", "says": says}
    verdict["says"] = verdict["says"][:1000]
    os.write(way.fileno(), dumps(verdict).encode() + b"\n")
    os._exit(0)


def try_answer(task: dict) -> dict:
    """Runs one answer and its check.

    Args:
      task: `module` and `check`, where the check is; `name`, of what to write; `setup`
        and `taught`, sources of the lesson; `own`, of the learner, which the answer
        builds on; `source`, of the answer. `flag`, if any, is a module and the name of
        what is true in it when the answer has done what it is tried for.

    Returns:
      `result`, a word or two, and what the check `says`.
    """
    check = getattr(importlib.import_module(task["module"]), task["check"])
    place = {"__name__": "__main__"}
    settings = Config({"HistoryManager": {"enabled": False}})
    shell = Shell.instance(user_ns=place, config=settings)
    for source in task["setup"] + needed(task["taught"], task["source"]):
        exec(compile(source, "<lesson>", "exec"), place)
    before, replaced, verdict = _marks(), _replaced, _verdict
    try:
        with shell.builtin_trap:
            for source in [*task["own"], task["source"]]:
                shell.run_cell(source).raise_error()
            missing = _missing(place[task["name"]], place)
            report = check(place[task["name"]])
    except SyntaxError as error:
        return {"result": "syntax error", "says": f"line {error.lineno}: {error.msg}"}
    except SystemExit as error:
        return {"result": "ended itself", "says": f"it called sys.exit({error.code!r})"}
    except BaseException as error:
        return {"result": "error", "says": _last(error)}
    names = replaced(before)
    if names:
        return {"result": "tampered", "says": f"it replaced {', '.join(names[:5])}"}
    found = verdict(report)
    if "flag" in task:
        module, name = task["flag"]
        found["flag"] = bool(getattr(importlib.import_module(module), name))
    if missing and found["result"] == "not solved":
        found["says"] = f"not defined: {', '.join(missing)}; {found['says']}"
    return found


def _missing(answer: object, place: dict) -> list[str]:
    """Returns the names that an answer reads and that nobody has defined."""
    functions = vars(answer).values() if isinstance(answer, type) else [answer]
    codes = [one.__code__ for one in functions if hasattr(one, "__code__")]
    known, read = {*place, *vars(builtins)}, set()
    for code in codes:
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
        read |= {step.argval for step in dis.get_instructions(code)
                 if step.opname == "LOAD_GLOBAL"}
    return sorted(read - known)


def _verdict(report) -> dict:
    """Reads the claims themselves: what a report prints may be anything."""
    claims = [(str(claim), bool(holds), str(wrong))
              for claim, holds, wrong in report.claims]
    if report.broken:
        return {"result": "not graded", "says": f"the check failed: {report.broken}"}
    if not claims:
        return {"result": "not tried", "says": ""}
    failed = [(claim, wrong) for claim, holds, wrong in claims if not holds]
    held = len({claim for claim, holds, _ in claims} - {claim for claim, _ in failed})
    if not failed:
        return {"result": "solved", "says": f"{len(claims)} claims hold", "held": held}
    [(claim, wrong), *_] = failed
    return {"result": "not solved", "held": held, "claim": claim[:200],
            "says": f"{claim}: {wrong}"[:1000]}


def _last(error: BaseException) -> str:
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    text = f"{type(error).__name__}: {error}".splitlines()[0][:500]
    return f"line {line}: {text}"


def _move_in(workplace: Path, seconds: float, memory: int) -> None:
    """Puts this process into its own folder, with its limits."""
    import resource  # not on Windows

    keep = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL")
            if name in os.environ}
    os.environ.clear()
    os.environ.update(
        keep, HOME=str(workplace), TMPDIR=str(workplace), PYTHONDONTWRITEBYTECODE="1",
        HELPERS_DATA=str(workplace / "data"), MPLBACKEND="agg",
        MPLCONFIGDIR=str(workplace), PYTHONPATH=str(ROOT))
    sys.dont_write_bytecode = True
    tempfile.tempdir = None
    sys.argv = ["answer"]
    importlib.import_module("helpers.lesson").ROOT = workplace  # where it logs
    os.chdir(workplace)
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: int(seconds)}
    with contextlib.suppress(OSError, ValueError):  # Linux has it, macOS has not
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + memory
    for kind, limit in limits.items():
        with contextlib.suppress(OSError, ValueError):  # a lower one is there
            later = 5 if kind == resource.RLIMIT_CPU else 0  # a signal tells why, first
            resource.setrlimit(kind, (limit, limit + later))


def _marks() -> list[tuple]:
    """Returns what an answer has no reason to replace: module, name and value.

    Of a class of ours, what it is made of counts as well.
    """
    modules = [builtins, math, json, np, np.linalg, np.testing]
    modules += [module for name, module in list(sys.modules.items())
                if name.split(".")[0] in ("helpers", "tools") and module]
    marks = [(module, name, value) for module in modules
             for name, value in vars(module).items() if callable(value)]
    classes = {value for _, _, value in marks if isinstance(value, type)
               and value.__module__.split(".")[0] in ("helpers", "tools")}
    return marks + [(owner, name, value) for owner in classes
                    for name, value in vars(owner).items() if callable(value)]


def _replaced(marks: list[tuple]) -> list[str]:
    """Returns the names of what is no longer what it was."""
    return [f"{owner.__name__}.{name}" for owner, name, value in marks
            if vars(owner).get(name) is not value]
