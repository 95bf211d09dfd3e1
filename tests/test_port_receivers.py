"""A method is changed where its value is known, or where all of the file is old."""

import pytest

from tools.port import rule, write
from tools.port.work import work

rule.load()
METHODS = sorted(name for name in rule.ROWS if name.startswith("."))
TODAY = "@tf.function\ndef step(x):\n    return tf.random.Generator.from_seed(x)\n"
OLD = "session = tf.Session()\n"
# How a value arrives: `{}` is what gives it, VALUE asks it.
KNOWN = {
    "name": "robot = {}\nrobot VALUE\n",
    "call": "{} VALUE\n",
    "part": "{}.arm[0].hand VALUE\n",
    "loop": "robots = [{} for _ in range(2)]\nfor one in robots:\n    one VALUE\n",
    "append": "robots = []\nrobots.append({})\n"
              "for n, one in enumerate(robots):\n    one VALUE\n",
    "list": "[one VALUE for one in [{}]]\n",
    "with": "with {} as robot:\n    robot VALUE\n",
    "self": "class House:\n    def __init__(self):\n        self.robot = {}\n"
            "    def ask(self):\n        self.robot VALUE\n",
    "child": "class Robot({}):\n    def ask(self):\n        self VALUE\n",
    "made": "class Robot({}):\n    pass\nRobot() VALUE\n",
    "late": "robot = None\nrobot = {}\nrobot VALUE\n",
    "either": "robot = {} if flag else None\nrobot VALUE\n",
}
UNKNOWN = {
    "parameter": "def ask(robot):\n    robot VALUE\n",
    "own": "def make():\n    return open('a')\nrobot = make()\nrobot VALUE\n",
    "not one": "for robot in (lambda: [])():\n    robot VALUE\n",
}


def ported(text: str, folder) -> tuple[str, list[str]]:
    """Returns the copy of a program, and what is left or said of its methods."""
    (folder / "old").mkdir()
    (folder / "old" / "old.py").write_text(text)
    done = work(folder / "old")
    write.write(folder / "old", folder / "new", done)
    said = [one.words for kind in (rule.Left, rule.Note) for one in done.of(kind)]
    return (folder / "new" / "old.py").read_text(), [
        words for words in said if "which cannot be seen here" in words]


def program(method: str, form: str, maker: str, head: str) -> str:
    """Returns a program that asks a value for a method, and imports all it needs."""
    ask = method.replace("...", "1")
    module = rule.ROWS[method].of[0]
    imports = "" if module == "dict" else f"import {module}\n"
    text = form.replace("{}", maker).replace(" VALUE", ask)
    return f"import tensorflow as tf\nimport foreign\n{imports}{head}{text}"


def maker_of(method: str) -> str:
    """Returns an expression that gives what has the method."""
    module = rule.ROWS[method].of[0]
    return "dict" if module == "dict" else f"{module}.Thing"


@pytest.mark.parametrize("head", [TODAY, ""], ids=["TensorFlow 2", "says nothing"])
@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_changed_where_nobody_knows_the_value(method, head, tmp_path):
    forms = [*(f.replace("{}", "foreign.make()") for f in KNOWN.values()),
             *UNKNOWN.values()]
    for number, form in enumerate(forms):
        (folder := tmp_path / str(number)).mkdir()
        text = program(method, form, "", head)
        assert ported(text, folder)[0] == text
        (folder := tmp_path / f"no_tf{number}").mkdir()
        text = text.replace("import tensorflow as tf\n", "").replace(TODAY, "")
        assert ported(text, folder)[0] == text


@pytest.mark.parametrize("head", [OLD, TODAY], ids=["old", "TensorFlow 2"])
@pytest.mark.parametrize("form", KNOWN)
@pytest.mark.parametrize("method", METHODS)
def test_a_value_that_is_known_has_the_name_of_today(method, form, head, tmp_path):
    maker = maker_of(method) + "()" * (form not in ("child", "made"))
    copy, said = ported(program(method, KNOWN[form], maker, head), tmp_path)
    row = rule.ROWS[method]
    assert row.new.strip("()") + ("(" in method) * "(" in copy and not said


@pytest.mark.parametrize("form", KNOWN)
@pytest.mark.parametrize("method", METHODS)
def test_of_an_old_program_what_is_another_librarys_is_a_line(method, form, tmp_path):
    maker = "foreign.make" + "()" * (form not in ("child", "made"))
    text = program(method, KNOWN[form], maker, OLD)
    copy, said = ported(text, tmp_path)
    assert copy.endswith(KNOWN[form].replace("{}", maker).replace(
        " VALUE", method.replace("...", "1")))
    assert len(said) == 1


@pytest.mark.parametrize("form", UNKNOWN)
@pytest.mark.parametrize("method", METHODS)
def test_what_may_be_anything_is_read_as_the_old_program_means_it(
        method, form, tmp_path):
    copy, said = ported(program(method, UNKNOWN[form], "", OLD), tmp_path)
    assert rule.ROWS[method].new.strip("()") in copy and not said


# What has no row of its own: how a value is asked then, and today.
ASKED = {
    "matplotlib hist": ("matplotlib.Thing()", ".hist([1], normed=True)",
                        ".hist([1], density=True)"),
    "matplotlib grid": ("matplotlib.Thing()", ".grid(b=True)", ".grid(visible=True)"),
    "xml": ("xml.Thing()", ".getchildren()", None),
}
PLAIN = {form: text for form, text in KNOWN.items() if form not in ("child", "made")} \
    | {"parentheses": "({}) VALUE\n", "broken": "print(({}\n    ) VALUE)\n"}


@pytest.mark.parametrize("form", PLAIN)
@pytest.mark.parametrize("asked", ASKED)
def test_what_a_known_value_is_asked_is_asked_as_today(asked, form, tmp_path):
    maker, old, new = ASKED[asked]
    text = f"import matplotlib, xml, foreign\n{PLAIN[form]}"
    (folder := tmp_path / "known").mkdir()
    copy, said = ported(text.replace("{}", maker).replace(" VALUE", old), folder)
    assert not said and old not in copy
    assert (new or "list(") in copy
    compile(copy, form, "exec")
    (folder := tmp_path / "foreign").mkdir()
    text = text.replace("{}", "foreign.make()").replace(" VALUE", old)
    assert ported(text, folder)[0] == text
