"""One answer and its check, in the process of the answer.

Who shares a process with a check can fool it, in the end. What can be told is told: the
check is fetched before the answer runs, the verdict is read from its claims and not
from what is printed, and parts of the check that were replaced are named.
"""

import builtins
import importlib
import linecache
import math
import os
import sys
import tempfile
import traceback
import types
from pathlib import Path

from helpers.files import ROOT
from tools.exercises import needed
from tools.grade import fence

CODE = types.FunctionType, types.BuiltinFunctionType, type


def try_answer(task: dict) -> dict:
    """Runs one answer and its check.

    Args:
      task: `module` and `check`, where the check is; `name`, of what to write; `setup`
        and `taught`, sources of the lesson; `source`, of the answer; `elsewhere`, names
        of other cells; `seconds`, `memory`, `workplace`, the limits and the folder.

    Returns:
      `result`, in a word or two, and what the check `says`.
    """
    check = getattr(importlib.import_module(task["module"]), task["check"])
    place = {"__name__": "__main__"}
    _move_in(task)
    for source in task["setup"]:
        exec(compile(source, "<set-up>", "exec"), place)
    before = _marks()
    try:
        code = compile(task["source"], "<answer>", "exec")
        for source in needed(task["taught"], task["source"]):
            exec(compile(source, "<lesson>", "exec"), place)
        _remember(task["source"])
        exec(code, place)
        report = check(place[task["name"]])
    except SyntaxError as error:
        return {"result": "syntax error", "says": f"line {error.lineno}: {error.msg}"}
    except SystemExit as error:
        return {"result": "ended itself", "says": f"it called sys.exit({error.code!r})"}
    except BaseException as error:
        return {"result": "error", "says": _last(error, task["elsewhere"])}
    changed = _changed(before)
    if changed:
        return {"result": "tampered", "says": f"it replaced {', '.join(changed[:5])}"}
    return _verdict(report, task["elsewhere"])


def _verdict(report, elsewhere) -> dict:
    """Reads the claims themselves: what a report prints may be anything."""
    claims = [(str(claim), bool(holds), str(wrong))
              for claim, holds, wrong in report.claims]
    if not claims:
        return {"result": "not tried", "says": ""}
    failed = [(claim, wrong) for claim, holds, wrong in claims if not holds]
    if not failed:
        return {"result": "solved", "says": f"{len(claims)} claims hold"}
    [(claim, wrong), *_] = failed
    return {"result": "not solved",
            "says": f"{claim}: {wrong}"[:1000] + _where_else(wrong, elsewhere)}


def _last(error: BaseException, elsewhere) -> str:
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    text = f"{type(error).__name__}: {error}".splitlines()[0][:500]
    return f"line {line}: {text}" + _where_else(text, elsewhere)


def _where_else(text: str, elsewhere) -> str:
    for name in elsewhere:
        if f"name '{name}' is not defined" in text:
            return f" (it stands in another cell: {name} belongs into the answer's own)"
    return ""


def _move_in(task: dict) -> None:
    """Puts this process into its own folder, behind its fence."""
    workplace = Path(task["workplace"])
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
    readable = [ROOT / "helpers", ROOT / "data" / "museum", Path(sys.prefix),
                Path(sys.base_prefix)]
    readable += [Path(entry) for entry in sys.path
                 if entry and not ROOT.is_relative_to(Path(entry).resolve())]
    readable = [path.resolve() for path in readable if path.exists()]
    fence.enclose(workplace, readable, task["seconds"], task["memory"])


def _remember(source: str) -> None:
    """Lets `inspect.getsource` find the answer, as in a notebook."""
    lines = source.splitlines(keepends=True)
    linecache.cache["<answer>"] = len(source), None, lines, "<answer>"


def _marks() -> dict:
    """Returns what an answer has no reason to replace, by its name."""
    marks = {}
    modules = {"builtins": builtins, "math": math}
    modules |= {name: module for name, module in sys.modules.items()
                if name.split(".")[0] in ("helpers", "numpy")
                or name in ("tensorflow", "tensorflow.compat.v1")}
    for module_name, module in modules.items():
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if isinstance(value, CODE):
                marks[module_name, name] = value, _inside(value)
    return marks


def _inside(value) -> tuple:
    """Returns what a function is made of; of a class of ours, what its methods are."""
    if isinstance(value, types.FunctionType):
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ()
                      if _is_filled(cell))
        return value.__code__, value.__defaults__, *cells, *(
            cell.__code__ for cell in cells if isinstance(cell, types.FunctionType))
    if isinstance(value, type) and value.__module__.startswith("helpers."):
        return tuple(vars(value).values())
    return ()


def _is_filled(cell) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _changed(before: dict) -> list[str]:
    """Returns the names of what is no longer what it was."""
    changed = []
    for (module, name), (value, inside) in before.items():
        now = vars(sys.modules[module]).get(name)
        same = now is value and len(_inside(value)) == len(inside) and all(
            a is b for a, b in zip(_inside(value), inside, strict=True))
        if not same:
            changed.append(f"{module}.{name}")
    return changed
