"""Rules of `port` inside one another, and however a name and its arguments arrive."""

import ast
import itertools
import json
import os
import subprocess
import sys

import pytest
from ported import copies, ported, written

from tf1tools.port import rule, rulebook
from tf1tools.port.outcome.work import BESIDE, Work, work
from tf1tools.port.text.edits import Edit, applied

BOOK = rulebook.load()


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
        here = written(folder / f"{name}{number}", {"old.py": text})
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
    done, new = copies({"old.py": text}, folder)
    assert not faults(done), faults(done)
    tree = ast.parse(new["old.py"])
    return {node.targets[0].id: ast.unparse(node.value) for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in lines}


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """What all examples import, their calls with the rule of each, and what becomes."""
    folder = tmp_path_factory.mktemp("examples")
    found = {(name, number): call for name in sorted(BOOK)
             for number, call in enumerate(calls_of(name, folder))}
    heads = dict.fromkeys(line for head, _ in found.values()
                          for line in head.splitlines(keepends=True))
    calls = {f"{name}_{number}".replace("-", "_"): (name, call)
             for (name, number), (_, call) in found.items()
             if "\n" not in call and not call.startswith("print")}
    heads = "".join(heads)
    return heads, calls, results({key: call for key, (_, call) in calls.items()},
                                 heads, folder / "alone")


# What these change in a call depends on what is given to it.
LOOK_INSIDE = {"contrib-data", "ctc-order", "gfile-bytes", "np-one-number", "py2-files",
               "py2-lists", "py3-sample", "swapped-logits"}


@pytest.mark.parametrize("name", sorted(BOOK))
def test_each_call_inside_each_other(name, pool, tmp_path):
    """As an argument, with parentheses of its own and without: both are changed."""
    heads, calls, alone = pool
    places = [(outer, call, k) for outer, (its_rule, call) in calls.items()
              if its_rule == name for k in range(_arguments(call))]
    holes = results({f"{outer}_at_{k}": with_argument(call, k, "hole")
                     for outer, call, k in places}, heads, tmp_path / "hole")
    cases, wanted = {}, {}
    for (outer, call, k), key, mark in itertools.product(places, calls, ("", "_in")):
        case = f"{outer}_at_{k}_of_{key}{mark}"
        inner = calls[key][1]
        cases[case] = with_argument(call, k, f"({inner})" if mark else inner)
        wanted[case] = holes[f"{outer}_at_{k}"].replace("hole", f"({alone[key]})")
    for case, got in results(cases, heads, tmp_path / "both").items():
        if name not in LOOK_INSIDE:
            assert ast.dump(ast.parse(got)) == ast.dump(ast.parse(wanted[case])), case


def _arguments(call: str) -> int:
    tree = ast.parse(call, mode="eval").body
    return len(tree.args) + len(tree.keywords)


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
    written(tmp_path, {"old.py": (text := f"def t():\n    return {call}\n")})
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
    done, new = copies({"old.py": text}, tmp_path)
    assert new["old.py"] == text and not faults(done)


OTHERS = {"builtins", "cv2", "input_data", "keras", "keras_applications", "pandas",
          "scipy", "skimage", "sklearn"}
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
# Through a file of the project: how that has a name, how one has it of that, and calls.
HANDED = {
    "star_of_star": ("from {home} import *", "from {own} import *", "{last}"),
    "from_star": ("from {home} import *", "from {own} import {last}", "{last}"),
    "of_module": ("from {home} import *", "import {own} as has", "has.{last}"),
    "from_from": ("from {home} import {last}", "from {own} import {last}", "{last}"),
}
USES = {"called": "{name}(a)", "handed_on": "map({name}, a)",
        "default": "lambda f={name}: f"}
# Runs the imports of copies and looks each name up, in one process for all.
LOOK = """
import ast, builtins, json, sys
import numpy
beside, texts = json.load(sys.stdin)
sys.path[:0] = beside
for path, text in texts.items():
    tree, names = ast.parse(text), {"a": numpy.zeros(1)}
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


def program(name: str, form: str, way: str) -> str:
    """Returns an old program that brings a name in a form and uses it in a way."""
    full = "tensorflow" + name[2:] if name.startswith("tf.") else name
    home, _, last = full.rpartition(".")
    root, _, tail = full.partition(".")
    head, _, value = FORMS[form].format(
        root=root, tail=tail, home=home, last=last, use="out").partition("\nout = ")
    return (f"import tensorflow as tf\ntf.Session\n{head}\na = [3]\n"
            f"out = {way.format(name=value)}\n")


def ready(form: str, folder) -> dict[str, str]:
    """Returns the copies of programs in one form that are called ready."""
    names = [name for name in NAMES if not (
        name in INSIDE and form in ("plain", "short", "module", "module_as"))]
    done = work(written(folder, {
        f"{name.replace('.', '__')}_{use}.py": program(name, form, way)
        for name, (use, way) in itertools.product(names, USES.items())}))
    return {f"{form} {file.path.name}": one.texts[0]
            for file, one in done.outcomes.items() if not one.left}


def looked_up(texts: dict[str, str], *beside) -> str:
    """Returns what of programs cannot be imported, or is no name; they may be broken.

    Args:
      texts: by what they are called.
      beside: folders in which their modules lie.
    """
    return subprocess.run(
        [sys.executable, "-c", LOOK], text=True, check=True,
        input=json.dumps([[*map(str, beside)], texts]), capture_output=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}).stdout


def test_a_name_in_every_form(tmp_path):
    """Where the copy is called ready, each import works and each name is there."""
    found = {form: ready(form, tmp_path / form) for form in FORMS}
    assert all(len(texts) > len(NAMES) for texts in found.values())
    assert looked_up(dict(itertools.chain(*map(dict.items, found.values()))),
                     BESIDE) == ""


def test_a_name_that_a_neighbour_hands_on(tmp_path):
    """The neighbour's copy has what the program needs of it, or one is left."""
    files = {}
    names = [*NAMES, "tf.pack", "tf.contrib.rnn.GRUCell", "tf.contrib.layers.flatten"]
    for unknown in ("numpy.rank", "numpy.msort"):  # nobody tells them from one's own
        names.remove(unknown)
    for name, (form, lines) in itertools.product(names, HANDED.items()):
        full = "tensorflow" + name[2:] if name.startswith("tf.") else name
        home, _, last = full.rpartition(".")
        own = f"{form}_{full.replace('.', '__')}"
        has, takes, use = (
            line.format(home=home, last=last, own=f"has_{own}") for line in lines)
        files[f"has_{own}.py"] = f"{has}\n"
        files[f"{own}.py"] = (f"import tensorflow as tf\ntf.Session\n{takes}\n"
                              f"a = [3]\nout = {use}(a)\n")
    done, new = ported(files, tmp_path)
    left = {file.path.name for file, one in done.outcomes.items() if one.left}
    texts = {name: (new / name).read_text() for name in files
             if not {name, f"has_{name}"} & left and not name.startswith("has_")}
    assert len(texts) > len(NAMES)
    assert looked_up(texts, BESIDE, new) == ""
