"""A method is changed where its value is known, or where all of the file is old."""

import pytest
from ported import copies

from tf1tools.port import rule, rulebook

rulebook.load()
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


def ported(programs: dict, folder) -> dict[object, tuple[str, list[str]]]:
    """Returns of each program its copy, and what is left or said of its methods."""
    names = {key: f"program{number}.py" for number, key in enumerate(programs)}
    done, new = copies({names[key]: text for key, text in programs.items()}, folder)
    found = {}
    for key, name in names.items():
        file = done.project.files[folder / "old" / name]
        said = [one.words for kind in (rule.Left, rule.Note)
                for one in done.of(kind, file)]
        found[key] = new[name], [words for words in said
                                 if "which cannot be seen here" in words]
    return found


def program(method: str, form: str, maker: str, head: str) -> str:
    """Returns a program that asks a value for a method, and imports all it needs."""
    module = rule.ROWS[method].of[0]
    imports = "" if module == "dict" else f"import {module}\n"
    return (f"import tensorflow as tf\nimport foreign\n{imports}{head}"
            + asked(form, maker, method.replace("...", "1")))


def asked(form: str, maker: str, ask: str) -> str:
    """Returns a form with what gives the value and what it is asked."""
    return form.replace("{}", maker).replace(" VALUE", ask)


def made(maker: str, form: str) -> str:
    """Returns what gives a value, or its class for a form that wants that."""
    return maker if form in ("child", "made") else f"{maker}()"


def maker_of(method: str, form: str) -> str:
    """Returns an expression that gives what has the method."""
    module = rule.ROWS[method].of[0]
    return made("dict" if module == "dict" else f"{module}.Thing", form)


@pytest.mark.parametrize("head", [TODAY, ""], ids=["TensorFlow 2", "says nothing"])
def test_nothing_is_changed_where_nobody_knows_the_value(head, tmp_path):
    forms = {**KNOWN, **UNKNOWN}
    programs = {(method, form): program(method, text, "foreign.make()", head)
                for method in METHODS for form, text in forms.items()}
    without = {key: text.replace("import tensorflow as tf\n", "").replace(TODAY, "")
               for key, text in programs.items()}
    for number, texts in enumerate((programs, without)):
        found = ported(texts, tmp_path / str(number))
        assert [key for key, text in texts.items() if found[key][0] != text] == []


@pytest.mark.parametrize("head", [OLD, TODAY], ids=["old", "TensorFlow 2"])
def test_a_value_that_is_known_has_the_name_of_today(head, tmp_path):
    found = ported({(method, form): program(method, text, maker_of(method, form), head)
                    for method in METHODS for form, text in KNOWN.items()}, tmp_path)
    for (method, form), (copy, said) in found.items():
        new = rule.ROWS[method].new.strip("()") + ("(" in method) * "("
        assert new in copy and not said, (method, form)


def test_of_an_old_program_what_is_another_librarys_is_a_line(tmp_path):
    found = ported({
        (method, form): program(method, text, made("foreign.make", form), OLD)
        for method in METHODS for form, text in KNOWN.items()}, tmp_path)
    for (method, form), (copy, said) in found.items():
        same = asked(KNOWN[form], made("foreign.make", form),
                     method.replace("...", "1"))
        assert copy.endswith(same) and len(said) == 1, (method, form)


def test_what_may_be_anything_is_read_as_the_old_program_means_it(tmp_path):
    found = ported({(method, form): program(method, text, "", OLD)
                    for method in METHODS for form, text in UNKNOWN.items()}, tmp_path)
    for (method, form), (copy, said) in found.items():
        assert rule.ROWS[method].new.strip("()") in copy and not said, (method, form)


# What has no row of its own: how a value is asked then, and today.
ASKED = {
    "matplotlib hist": ("matplotlib.Thing()", ".hist([1], normed=True)",
                        ".hist([1], density=True)"),
    "matplotlib grid": ("matplotlib.Thing()", ".grid(b=True)", ".grid(visible=True)"),
    "xml": ("xml.Thing()", ".getchildren()", None),
}
PLAIN = {form: text for form, text in KNOWN.items() if form not in ("child", "made")} \
    | {"parentheses": "({}) VALUE\n", "broken": "print(({}\n    ) VALUE)\n"}




def test_what_a_known_value_is_asked_is_asked_as_today(tmp_path):
    head = "import matplotlib, xml, foreign\n"
    cases = {(key, form): (head + text, *ASKED[key])
             for key in ASKED for form, text in PLAIN.items()}
    known = ported({case: asked(text, maker, old)
                    for case, (text, maker, old, _) in cases.items()},
                   tmp_path / "known")
    theirs = {case: asked(text, "foreign.make()", old)
              for case, (text, _, old, _) in cases.items()}
    foreign = ported(theirs, tmp_path / "foreign")
    for case, (_, _, old, new) in cases.items():
        copy, said = known[case]
        assert not said and old not in copy and (new or "list(") in copy, case
        compile(copy, str(case), "exec")
        assert foreign[case][0] == theirs[case], case
