"""No test and no lesson asserts a time: what a busy machine breaks belongs to bench."""

import ast
import json
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parents[1]
CLOCKS = {"perf_counter", "monotonic", "process_time", "time", "thread_time",
          "perf_counter_ns", "monotonic_ns", "timeit"}
TESTS = sorted((ROOT / "tests").rglob("*.py"))
NOTEBOOKS = sorted(ROOT.glob("notebooks/**/[0-9]*.ipynb"))


def program(path):
    """Returns the Python of a file, or of all code cells of a notebook."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return text
    return "\n".join(
        TransformerManager().transform_cell("".join(cell["source"]))
        for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"
    )


def reads_a_clock(node, known):
    """Whether an expression calls a clock, or names what holds its answer."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            module = part.func.value
            if (part.func.attr in CLOCKS and isinstance(module, ast.Name)
                    and module.id in ("time", "timeit")):
                return True
        if isinstance(part, ast.Name) and part.id in known:
            return True
    return False


def inside(scope):
    """Yields the nodes of a function or module, but not those of its functions."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)


def asserted_times(text):
    """Yields the line of each assert that compares a time with something."""
    for scope in ast.walk(ast.parse(text)):
        if not isinstance(scope, ast.FunctionDef | ast.Module):
            continue
        known = set()
        for node in inside(scope):
            if isinstance(node, ast.Assign) and reads_a_clock(node.value, known):
                for target in node.targets:
                    known |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        for node in inside(scope):
            if isinstance(node, ast.Assert):
                for part in ast.walk(node.test):
                    if isinstance(part, ast.Compare) and reads_a_clock(part, known):
                        yield node.lineno


@pytest.mark.parametrize(
    "path", TESTS + NOTEBOOKS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_time_is_asserted(path):
    assert not sorted(set(asserted_times(program(path))))


def test_the_search_finds_what_it_looks_for():
    timed = ("import time\nstart = time.perf_counter()\n"
             "seconds = time.perf_counter() - start\n")
    assert list(asserted_times(timed + "assert seconds < 3\n")) == [4]
    later = "ratio = seconds / 2\nassert 1 > ratio\n"
    assert list(asserted_times(timed + later)) == [5]
    assert not list(asserted_times(timed + "assert callable(print)\n"))
