"""Lets an old program run on `tensorflow.compat.v1`, with TensorFlow 1 behaviour.

The lines are inserted at the first import of TensorFlow in the program. A file is old
if it uses a name that TensorFlow 2 no longer has, and a program is old if one of its
files is. If an old program and a current one share a module without old names, the
module is not changed. If a program contains a call that only TensorFlow 2 accepts, such
as `tf.saved_model.load(folder)`, nothing in it is changed.

Keras 2 has to be selected before TensorFlow is imported. A folder of the project that
happens to be called `tensorflow` is not TensorFlow, and a file that imports it is
judged by its own code.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Before:

    # file: main.py
    from kaffe.tensorflow import placeholder
    print(placeholder())
    # file: kaffe/__init__.py
    # file: kaffe/tensorflow/__init__.py
    from .network import placeholder
    # file: kaffe/tensorflow/network.py
    import tensorflow as tf
    def placeholder():
        return tf.placeholder(tf.float32, [None, 3])

After:

    # file: main.py
    from kaffe.tensorflow import placeholder
    print(placeholder())
    # file: kaffe/tensorflow/network.py
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    def placeholder():
        return tf.placeholder(tf.float32, [None, 3])

Stays:

    import tensorflow as tf
    print(tf.reduce_sum([1, 2]))
    model = tf.saved_model.load("export")
    tf.summary.scalar("loss", data=1.0, step=1)

Before:

    # file: old.py
    import tensorflow as tf
    import shared
    print(tf.Session().run(shared.double(tf.placeholder_with_default(2, []))))
    # file: today.py
    import shared
    version = shared.tf.__version__
    print(version.startswith("2"), shared.double(3).numpy())
    # file: shared.py
    import tensorflow as tf
    def double(x):
        return tf.multiply(x, 2)

After:

    # file: old.py
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    import shared
    print(tf.Session().run(shared.double(tf.placeholder_with_default(2, []))))
    # file: today.py
    import shared
    version = shared.tf.__version__
    print(version.startswith("2"), shared.double(3).numpy())
    # file: shared.py
    import tensorflow as tf
    def double(x):
        return tf.multiply(x, 2)
"""

import ast

from tf1tools.port.names.spelling import root
from tf1tools.port.rule import Change, Rule, Top
from tf1tools.port.text.syntax import modules_of

rule = Rule(__name__, __doc__, __file__)

KEY = "TF_USE_LEGACY_KERAS"
KERAS = ["import os", f'os.environ["{KEY}"] = "1"']
SLIM = ["import slim_shim", "import tf_slim"]


@rule.project
def put_on_top(project, work):
    """Inserts the imports and settings that an old file needs."""
    for file in filter(lambda file: file.whole, project.files.values()):
        old = anchor(file) if project.is_old(file) else None
        top = [*_keras(file, project, work)] if old else []
        needs = sorted(work.needs(file))
        modules = [what for what in needs if what.startswith("import ")]
        slim = [what for what in SLIM if what in modules]
        top += [] if "slim_shim" in file.code else slim
        top += _bridge(file) if old else []
        if top:
            yield _top(top, *(old or first(file)))
        if others := [what for what in modules if what not in slim]:
            part, start, _ = first(file)
            yield Change(part, start, start, "".join(f"{one}\n" for one in others))


def _keras(file, project, work) -> list[str]:
    """Returns the lines that select Keras 2, if the file's programs need it."""
    legacy = project.has_keras(file) or any(
        "legacy keras" in work.needs(one) for one in project.programs(file))
    return KERAS if legacy and KEY not in file.code else []


def _bridge(file) -> list[str]:
    name = root(file)
    done = any("disable_v2_behavior" in use.name for use in file.uses)
    return [f"import tensorflow.compat.v1 as {name}",
            *[f"{name}.disable_v2_behavior()"] * (not done)]


def _top(lines: list[str], part, start: int, end: int) -> Top:
    indent = part.text.before(start).strip("\f")
    indent = indent if indent.isspace() else " " * len(indent)
    return Top(part, start, end, f"\n{indent}".join(
        lines if end > start else [*lines, ""]))


def anchor(file):
    """Returns part, start and end of the first TensorFlow import, or `None`."""
    for part, statement in _statements(file):
        if any(_is_tensorflow(node) for node in ast.walk(statement)):
            whole = isinstance(statement, ast.Import) and len(statement.names) == 1 \
                and statement.names[0].name in ("tensorflow", "tensorflow.compat.v1")
            start, end = part.text.span(statement)
            return part, start, end if whole else _start(part, statement)
    return None


def first(file):
    """Returns the part and position of the first statement after the docstring."""
    for part, statement in _statements(file):
        start = _start(part, statement)
        return part, start, start
    return file.parts[0], 0, 0


def _statements(file):
    for part in file.parts:
        for one in part.tree.body if part.tree else ():
            constant = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
            if not constant and getattr(one, "module", "") != "__future__":
                yield part, one


def _start(part, statement) -> int:
    decorated = getattr(statement, "decorator_list", None)
    return part.text.span(decorated[0])[0] - 1 if decorated else \
        part.text.span(statement)[0]


def _is_tensorflow(node) -> bool:
    return any(name.partition(".")[0] in ("tensorflow", "keras")
               for name in modules_of(node))
