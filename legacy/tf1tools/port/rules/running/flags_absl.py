"""Adapts flag definitions to absl, which checks them more strictly.

If a flag has the same name as one of absl's own flags, it gets `allow_override=True`.
The default of an integer flag is written as an integer. Other defaults of the wrong
type are left for you, and so are assignments to flags that are not defined in the
project.

Since: TensorFlow 1.5
Lesson: 10a
Side: TensorFlow 1.4

Before:

    flags = tf.app.flags
    flags.DEFINE_string("log_dir", "log/train", "where")
    flags.DEFINE_integer("steps", 5e3, "how many")

After:

    flags = tf.app.flags
    flags.DEFINE_string("log_dir", "log/train", "where", allow_override=True)
    flags.DEFINE_integer("steps", 5000, "how many")

Left:

    FLAGS = tf.app.flags.FLAGS
    tf.app.flags.DEFINE_integer("rate", 0.5, "a float")  # left: DEFINE_float
    tf.app.flags.DEFINE_string("size", 3, "no text")  # left: its default must be text
    tf.app.flags.DEFINE_boolean("batch", 128, "a size")  # left: True or False
    FLAGS.rate = 3
    FLAGS.words = 4  # left: define the flag words first
"""

import ast

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

OF_ABSL = {
    "alsologtostderr", "log_dir", "logger_levels", "logtostderr", "only_check_args",
    "pdb", "pdb_post_mortem", "profile_file", "run_with_pdb", "run_with_profiling",
    "showprefixforinfo", "stderrthreshold", "use_cprofile_for_profiling", "v",
    "verbosity"}
TAKES = {"string": "text or None",
         "integer": "an integer; else write DEFINE_float",
         "float": "a number", "bool": "True or False; else write DEFINE_integer",
         "boolean": "True or False; else write DEFINE_integer"}
KINDS = ("string", "integer", "float", "boolean", "bool", "enum", "list", "multistring")


@rule.call(*(f"{home}.DEFINE_{kind}" for home in ("tf.app.flags", "tf.flags")
             for kind in KINDS))
def define(use):
    """Allows overriding a flag of absl, and corrects the type of a default."""
    name, default = [*_values(use, "flag_name", "default_value"), None, None][:2]
    if getattr(name, "value", None) in OF_ABSL and not use.keyword("allow_override"):
        yield from use.add_argument("allow_override=True")
    value, kind = _literal(default), use.name.rpartition("_")[2]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        yield use.part.instead(default, str(int(value)))
    elif value is not None and kind in TAKES and not _is_taken(kind, value):
        yield use.left(f"its default must be {TAKES[kind]}")


def _literal(node):
    """Returns the value of a literal, or `None` for other expressions."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _is_taken(kind: str, value) -> bool:
    """Returns whether absl accepts a default of a flag, as its parsers do."""
    if kind == "string":
        return isinstance(value, str)
    if kind in ("bool", "boolean"):
        return str(value).lower() in ("true", "t", "1", "false", "f", "0") and \
            isinstance(value, bool | int | str)
    number = {"integer": int, "float": float}[kind]
    if not isinstance(value, str):
        return isinstance(value, int | number) and not isinstance(value, bool)
    try:
        return number(value) is not None
    except ValueError:
        return False


def _values(use, *names: str) -> list:
    """Returns the nodes of the name and default arguments of a flag."""
    found = [*use.node.args[:2]]
    return found + [word.value for name in names[len(found):]
                    if (word := use.keyword(name) or use.keyword(name[5:]))]


@rule.project
def assigned(project, work):
    """Marks assignments to flags that no file of the project defines."""
    parts = [part for file in project.files.values() for part in file.parts]
    calls = [node for part in parts for node in part.nodes if isinstance(node, ast.Call)
             and (getattr(node.func, "attr", "") or getattr(node.func, "id", ""))[:7]
             == "DEFINE_"]
    names = {getattr([*call.args, None][0], "value", None) or next(
        (getattr(word.value, "value", None) for word in call.keywords
         if word.arg in ("name", "flag_name")), None) for call in calls}
    if None in names:  # a name is computed at run time
        return
    for part in parts:
        for node in part.nodes if project.is_old(part.file) else ():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and \
                    node.attr not in names | OF_ABSL and is_flags(node.value, part):
                yield part.left(node, f"define the flag {node.attr} first, with "
                                      "tf.flags.DEFINE_...: absl rejects others")


def is_flags(node, part) -> bool:
    """Returns whether an expression is TensorFlow's `FLAGS`."""
    full = part.full(node)
    return full.startswith("tf") and full.endswith(".FLAGS")
