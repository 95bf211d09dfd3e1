"""Notes TensorFlow names that the program computes at run time.

Since: always
Lesson: 10a
Side: none: nothing is written

Noted:

    import tensorflow as tf
    make = getattr(tf.train, name + "Optimizer")  # note: computes a name of tf.train
"""

import ast

from tf1tools.port.rule import Note, Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)


@rule.node(ast.Call)
def asked_for(node, part):
    """Adds a note to calls of `getattr` on a TensorFlow module."""
    if dotted(node.func) == "getattr" and node.args:
        module = part.full(node.args[0])
        if module.partition(".")[0] == "tf":
            yield Note(part, part.line(node),
                       f"the program computes a name of {module} at run time: check it "
                       "yourself")
