"""What `tensorflow.compat.v1` has under the old name stays as it is.

A table made from the installed TensorFlow (`tools/port/table.txt`) knows each name; the
rows of other rules have only what has another name today.

Since: TensorFlow 2.0
Sitting: 10a
Side: TensorFlow 1.15

Stays:

    x = tf.placeholder(tf.float32, [None, 3])
    tf.contrib.no_such_thing(x)  # left: nothing has it today
    tf.pack(x, dims=3)  # left: it takes no dims=

Left:

    tf.summary.scalar("loss", data=1.0, step=1)
    tf.Session()  # left: nothing is changed
"""

import ast

from tools.port import fates
from tools.port.rule import ARGUMENTS, call, file
from tools.port.today import refusal, today


@call("tf.*")
def misfit(use):
    """Asks the function of today whether it takes the call."""
    new = today(use.name)
    if use.is_call and new:
        renamed = ARGUMENTS.get(use.name, {})
        words = tuple(renamed[k][0] if k in renamed else k for k in use.call.keywords)
        if refused := refusal(new, use.call._replace(keywords=words)):
            yield use.left(refused)


@file
def both(file, work):
    """Leaves the names of TensorFlow 1 in a program that is one of TensorFlow 2."""
    for use in file.uses if file.project.is_mixed(file) else ():
        if fates.age(use) == "old" and not isinstance(use.node, ast.alias):
            yield use.left(f"{fates.fate(use.name, use.call).instead}: nothing is "
                           "changed, as other calls here are those of TensorFlow 2")
