"""Keeps each name that `tensorflow.compat.v1` still has.

The table `tf1tools/port/table/known.txt`, which was made from the installed TensorFlow,
contains all these names. The tables of other rules contain only names that have
changed.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Stays:

    x = tf.placeholder(tf.float32, [None, 3])
    tf.contrib.no_such_thing(x)  # left: no current package has it
    tf.pack(x, dims=3)  # left: it does not accept dims=

Left:

    tf.summary.scalar("loss", data=1.0, step=1)
    tf.Session()  # left: nothing is changed

Report:

    tf.compat.v1.Session()  # kept: compat.v1.Session
    tf.compat.v1.layers.dense(x, 3)  # gone: Dense
    tf.contrib.no_such_thing(x)  # gone: no replacement
    tf.float32.as_numpy_dtype  # kept: tf.float32
    tf.Coordinator()  # gone: tf.train.Coordinator
    x.shape[1].value  # moved: an int
"""

import ast

from tf1tools.port.names import fates
from tf1tools.port.names.today import refusal
from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.*")
def misfit(use):
    """Marks TensorFlow calls that the current function rejects."""
    if (refused := refusal(use.name, use.call)):
        yield use.left(refused)


@rule.file
def both(file, work):
    """Marks TensorFlow 1 names in a program that also needs TensorFlow 2."""
    for use in file.uses if file.project.is_mixed(file) else ():
        if fates.age(use) == "old" and not isinstance(use.node, ast.alias):
            yield use.left(f"{fates.fate(use.name, use.call).instead}; nothing is "
                           "changed, because other calls here need TensorFlow 2")
