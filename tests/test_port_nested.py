"""Rules of `port` inside one another, and however a name and its arguments arrive."""

import ast
import itertools
import json
import os
import subprocess
import sys

import pytest

from tools.port import rule, write
from tools.port.edits import Edit, applied
from tools.port.work import Work, work

BOOK = rule.load()


def ported(text: str, folder) -> tuple[Work, str]:
    """Returns what the rules say of a program, and its copy."""
    old, new = folder / "old", folder / "new"
    old.mkdir(parents=True)
    (old / "old.py").write_text(text)
    done = work(old)
    write.write(old, new, done)
    return done, (new / "old.py").read_text()


def faults(done: Work) -> list[str]:
    """Returns what port says of its own."""
    return [one.words for one in done.of(rule.Left) if "fault of port" in one.words]


def calls_of(name: str, folder) -> list[tuple[str, str]]:
    """Returns the calls in the examples of a rule that it changes, with imports."""
    found = []
    for number, one in enumerate(BOOK[name].examples):
        text = one.before.get("old.py", "")
        if not text or one.report:
            continue
        (here := folder / f"{name}{number}").mkdir(parents=True)
        (here / "old.py").write_text(text)
        done = work(here)
        changed = [f.thing for f in done.said(rule.Change) if f.rule is BOOK[name]]
        for part in done.project.files[here / "old.py"].parts:
            heads = "".join(part.written(node) + "\n" for node in part.imports)
            for node in part.nodes:
                start, end = part.text.span(node) if isinstance(node, ast.Call) else (
                    0, 0)
                if node and any(start <= one.start and one.end <= end and
                                one.part is part for one in changed):
                    found.append((heads, part.written(node)))
    return found


def with_argument(call: str, which: int, inner: str) -> str:
    """Returns a call with one of its arguments replaced."""
    tree = ast.parse(call, mode="eval").body
    given = [*tree.args, *(one.value for one in tree.keywords)]
    lines = call.split("\n")
    node = given[which]
    if node.lineno != node.end_lineno:
        return ""
    line = lines[node.lineno - 1].encode()
    lines[node.lineno - 1] = (line[:node.col_offset] + inner.encode()
                              + line[node.end_col_offset:]).decode()
    return "\n".join(lines)


def results(lines: dict[str, str], heads: str, folder) -> dict[str, str]:
    """Returns what becomes of expressions, all in one program of Python 2."""
    text = heads + 'print "old"\n' + "".join(
        f"{name} = {one}\n" for name, one in lines.items())
    done, copy = ported(text, folder)
    assert not faults(done), faults(done)
    tree = ast.parse(copy)
    return {node.targets[0].id: ast.unparse(node.value) for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in lines}


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """The calls of all examples by rule and number, and what they import."""
    folder = tmp_path_factory.mktemp("examples")
    found = {(name, number): call for name in sorted(BOOK)
             for number, call in enumerate(calls_of(name, folder))}
    heads = dict.fromkeys(line for head, _ in found.values()
                          for line in head.splitlines(keepends=True))
    return "".join(heads), {key: call for key, (_, call) in found.items()
                            if "\n" not in call and not call.startswith("print")}


# What these change in a call depends on what is given to it.
LOOK_INSIDE = {"ctc-order", "gfile-bytes", "np-one-number", "py2-files", "py2-lists",
               "py3-sample", "swapped-logits"}


@pytest.mark.parametrize("name", sorted(BOOK))
def test_each_call_inside_each_other(name, pool, tmp_path):
    """As an argument, with parentheses of its own and without: both are changed."""
    heads, calls = pool
    inner = {f"{key[0]}_{key[1]}".replace("-", "_"): call
             for key, call in calls.items()}
    alone = results(inner, heads, tmp_path / "alone")
    outer = [call for key, call in calls.items() if key[0] == name]
    for number, call in enumerate(outer):
        tree = ast.parse(call, mode="eval").body
        places = range(len(tree.args) + len(tree.keywords))
        hole = results({f"at_{k}": with_argument(call, k, "hole") for k in places},
                       heads, tmp_path / f"hole{number}")
        cases = {f"{key}_at_{k}{mark}": with_argument(call, k, form % text)
                 for k in places for key, text in inner.items()
                 for mark, form in (("", "%s"), ("_in", "(%s)"))}
        for case, got in results(cases, heads, tmp_path / f"both{number}").items():
            key, _, at = case.removesuffix("_in").rpartition("_at_")
            wanted = hole[f"at_{at}"].replace("hole", f"({alone[key]})")
            if name not in LOOK_INSIDE:
                assert ast.dump(ast.parse(got)) == ast.dump(ast.parse(wanted)), case


ENDINGS = [
    "f()", "f( )", "f(a)", "f((a))", "f(((a)), (b))", "f(a,)", "f(a, b=(1),)",
    "f((a\n  + b))", 'f(("a" + ")"))', "f(a  # one, (two)\n  )",
    "f(a,  # one)\n  b  # two,\n  ,  # three\n  )", "f(*a)", "f(a, *b)", "f(b=1, *a)",
    "f(a, **b)", "f(lambda x, y: (x))", "f(a[1, (2)])", "f((a, b))",
    "f((x for x in a))",
    "(f)(a)", "f(a)(b)", "(f  # (\n )((a))", "f\\\n (a)", "f(g(a))", "f((g)((a)))",
    "f(é, 'é')", "f(a if (b) else (c))", "f((yield))", "f((a := 1))", "f(f'{a}')",
]


@pytest.mark.parametrize("call", ENDINGS)
def test_one_argument_more_whatever_the_call_ends_with(call, tmp_path):
    (tmp_path / "old.py").write_text(text := f"def t():\n    return {call}\n")
    part, = work(tmp_path).project.files[tmp_path / "old.py"].parts
    node = max((one for one in part.nodes if isinstance(one, ast.Call)
                and one.end_col_offset), key=lambda one: (one.end_lineno,
                                                           one.end_col_offset))
    edits = [Edit(*one[1:4]) for word in ("new=1", "other=2")
             for one in part.add_argument(node, word)]
    if not node.args and not node.keywords:
        edits = edits[:1]
    wanted = ast.parse(text)
    outer = max((one for one in ast.walk(wanted) if isinstance(one, ast.Call)),
                key=lambda one: (one.end_lineno, one.end_col_offset))
    outer.keywords += [ast.keyword("new", ast.Constant(1)),
                       ast.keyword("other", ast.Constant(2))][:len(edits)]
    after = applied(part.text.text, edits)
    assert ast.dump(ast.parse(after)) == ast.dump(wanted)
    assert after.count("#") == text.count("#")
    spans = [after and part.text.text[slice(*one)] for one in part.arguments(node)]
    assert [ast.dump(ast.parse(f"f({one})")) for one in spans] == [
        ast.dump(ast.parse(f"f({ast.unparse(one)})"))
        for one in sorted([*node.args, *node.keywords], key=part.start)]


@pytest.mark.parametrize("call", [
    "np.load(x for x in y).item()", "tf.concat(1, x for x in y)"])
def test_a_generator_without_parentheses_stays(call, tmp_path):
    """Its parentheses are those of the call, which can take nothing more."""
    text = f"import numpy as np\nx = {call}\n"
    done, copy = ported(text, tmp_path)
    assert copy == text and not faults(done)


OTHERS = {"builtins", "input_data", "keras", "keras_applications"}
# Modules that nobody reaches as a part of their package without importing them.
INSIDE = {"xml.etree.cElementTree", "tf.python.tools.inspect_checkpoint"}
NAMES = sorted({name for name in [*rule.ROWS, *(
    str(hook.key) for hook in rule.HOOKS["call"])]
    if "." in name[1:] and not {*"(*"} & {*name} and name[0] != "."
    and name.partition(".")[0] not in OTHERS} | {"numpy.rank", "numpy.msort"})
FORMS = {
    "plain": "import {root}\n{use} = {root}.{tail}",
    "short": "import {root} as own\n{use} = own.{tail}",
    "from": "from {home} import {last}\n{use} = {last}",
    "from_as": "from {home} import {last} as own\n{use} = own",
    "module": "import {home}\n{use} = {home}.{last}",
    "module_as": "import {home} as own\n{use} = own.{last}",
    "star": "from {home} import *\n{use} = {last}",
    "unused": "from {home} import {last}\n{use} = zip",
}
USES = {"called": "{name}(a)", "handed_on": "map({name}, a)",
        "default": "lambda f={name}: f"}
# Runs the imports of copies and looks each name up, in one process for all.
LOOK = """
import ast, builtins, json, os, sys
import numpy
sys.path.insert(0, os.getcwd())
for path in json.load(sys.stdin):
    tree, names = ast.parse(open(path).read()), {"a": numpy.zeros(1)}
    try:
        exec(compile(ast.Module(tree.body[:-2], []), "copy", "exec"), names)
        for node in ast.walk(tree.body[-1]):
            if isinstance(node, ast.Attribute):
                eval(ast.unparse(node), names)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                assert node.id in {*names, *dir(builtins), "f"}, node.id
    except Exception as error:
        print(path, repr(error))
"""


@pytest.mark.parametrize("form", FORMS)
def test_a_name_in_every_form(form, tmp_path):
    """Where the copy is called ready, each import works and each name is there."""
    (old := tmp_path / "old").mkdir()
    for name, (use, way) in itertools.product(NAMES, USES.items()):
        if name in INSIDE and form in ("plain", "short", "module", "module_as"):
            continue
        full = "tensorflow" + name[2:] if name.startswith("tf.") else name
        (home, _, last), (root, _, tail) = full.rpartition("."), full.partition(".")
        head, _, value = FORMS[form].format(
            root=root, tail=tail, home=home, last=last, use="out").partition("\nout = ")
        (old / f"{full.replace('.', '__')}_{use}.py").write_text(
            f"import tensorflow as tf\ntf.Session\n{head}\na = [3]\n"
            f"out = {way.format(name=value)}\n")
    write.write(old, tmp_path / "new", done := work(old))
    ready = [path.name for path, file in done.project.files.items()
             if not done.of(rule.Left, file)]
    assert len(ready) > len(NAMES)
    looked = subprocess.run(
        [sys.executable, "-c", LOOK], input=json.dumps(ready), cwd=tmp_path / "new",
        capture_output=True, text=True, check=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert looked.stdout == ""
