"""The package `helpers`: small modules, one meaning per name, a map that is true."""

import ast
import functools
import re
from collections import defaultdict

import nbformat
import pytest

from helpers.files import ROOT
from tools import architecture
from tools import notebook as nb

FILES = sorted((ROOT / "helpers").rglob("*.py"))
TREES = {path: ast.parse(path.read_text("utf-8")) for path in FILES}
each_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda p: p.relative_to(ROOT / "helpers").as_posix()
)


@each_file
def test_a_module_is_small_and_says_its_job_first(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) < 350
    assert ast.get_docstring(TREES[path]).splitlines()[0].endswith((".", "`"))


def public_functions(tree):
    """Yields the functions and methods that a lesson may call."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node)
        elif (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
              and not node.name.startswith("_")):
            yield node


@each_file
def test_public_functions_are_annotated(path):
    if path.name.startswith("lesson_"):
        pytest.skip("an attempt may be anything: that is what a check finds out")
    bare = []
    for function in public_functions(TREES[path]):
        given = function.args
        starred = filter(None, (given.vararg, given.kwarg))
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *starred]
        names = [a for a in every
                 if a.arg not in ("self", "cls") and a.annotation is None]
        if names or function.returns is None:
            bare.append(f"{function.name}({', '.join(a.arg for a in names)})")
    assert not bare


def test_a_name_has_one_meaning():
    """Classes, and functions that can be imported; a check's own helpers are local."""
    where = defaultdict(set)
    for path, tree in TREES.items():
        for node in tree.body:
            local = isinstance(node, ast.FunctionDef) and node.name.startswith("_")
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not local:
                where[node.name].add(path.name)
    del where["box"]  # the same, in a figure and in a page
    assert not {name: files for name, files in where.items() if len(files) > 1}


def private_names(tree):
    """Returns the private attributes that a module uses of objects not its own."""
    return {
        node.attr for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and re.match(r"_[A-Za-z]", node.attr)
        and not (isinstance(node.value, ast.Name)
                 and node.value.id in ("self", "cls", "os"))
    }


def own_names(tree):
    """Returns the private names that a module itself gives away."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_private_names_of_tensorflow_stand_in_one_module():
    users = {path.relative_to(ROOT / "helpers").as_posix(): names
             for path, tree in TREES.items()
             if (names := private_names(tree) - {*own_names(tree)}
                 - {"_replace", "_asdict", "_fields"})}
    assert len(users) <= 1, users


def test_the_drawing_is_that_of_the_imports():
    page = architecture.PAGE.read_text("utf-8")
    assert architecture.with_drawing(page) == page, "run: python -m tools.architecture"


def test_import_linter_sees_all_of_tools():
    """It reads packages alone; what lies elsewhere is asked for here."""
    seen = {path.parent for path in (ROOT / "tools").rglob("__init__.py")}
    apart = [path for path in (ROOT / "tools").rglob("*.py") if path.parent not in seen]
    found = {(path.parent.name, name) for path in apart for name in re.findall(
        r"^ *(?:from|import) (tools[\w.]*)", path.read_text("utf-8"), re.M)}
    assert {path.parent.name for path in apart} == {"museum", "jupyter"}
    assert found == {("jupyter", "tools.lab")}  # Jupyter reads it, for the same places


def test_the_page_names_every_room():
    page = architecture.PAGE.read_text("utf-8")
    tables = page.split("## Modules that the whole course needs")[1]
    tables = tables.split("## Where does it go?")[0]
    missing = [room for room in architecture.rooms()
               if not re.search(rf"`{room}/?`", tables)]
    assert not missing


def test_the_page_names_files_that_are_there():
    page = architecture.PAGE.read_text("utf-8")
    rooms = "helpers|tests|tools|docs|data|legacy"
    for name in re.findall(rf"`((?:{rooms})/[\w/.]+)`", page):
        assert (ROOT / name).exists() or "NN" in name, name


CITED = re.compile(r"(\d\d[a-d]?), (?:the pitfall )?(\"[^\"]+\"|'[^']+')"
                   r"((?: and (?:\"[^\"]+\"|'[^']+'))*)")


@functools.cache
def headings(number):
    """Returns the headings of a lesson, and the titles of its pitfalls."""
    [path] = nb.lessons(ROOT, [number])
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells
                     if cell.cell_type == "markdown")
    return {re.sub(r"[`*]", "", found.strip(" .")) for pattern in (
        r"^#+ (.+)$", r"^> \*\*Pitfall: (.+?)\*\*") for found in
        re.findall(pattern, text, re.M)}


@each_file
def test_a_lesson_that_a_docstring_cites_has_that_heading(path):
    for node in ast.walk(TREES[path]):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        text = " ".join((ast.get_docstring(node) or "").split())
        for number, first, more in CITED.findall(text):
            for title in re.findall(r"\"([^\"]+)\"|'([^']+)'", first + more):
                assert "".join(title) in headings(number), f"{number}: {title}"
