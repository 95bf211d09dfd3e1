"""Replaces private methods of TensorFlow's flags with methods of absl.

Today TensorFlow's flags are those of absl, which has other methods for reading them.
These methods do not show that a program was written for Python 2, so its divisions are
not changed.

Since: TensorFlow 1.5
Lesson: 10a
Side: TensorFlow 1.15

Before:

    FLAGS = tf.flags.FLAGS
    FLAGS._parse_flags()
    print(FLAGS.__flags, 6 / 2)

After:

    FLAGS = tf.flags.FLAGS
    FLAGS.flag_values_dict()
    print(FLAGS.flag_values_dict(), 6 / 2)

The flags themselves, of which a program asks `value`, are where they were:

Stays:

    FLAGS = tf.flags.FLAGS
    for name in FLAGS.__flags.keys():
        print(name, FLAGS.__flags[name].value)
    for name, flag in FLAGS.__dict__["__flags"].items():
        print(name, flag.value)
    flags = FLAGS.__flags
    print([flags[name].value for name in flags])

Stays:

    FLAGS = tf.flags.FLAGS
    print(FLAGS.batch_size)
    tf.flags.FLAGS(x)
"""

import ast

from tf1tools.port.reading.project import Certainty
from tf1tools.port.rule import Change, Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({"._parse_flags()": (".flag_values_dict", "of flags")}, of=("absl", "tf"))


@rule.node(ast.Attribute)
def held(node, part):
    """Replaces `FLAGS.__flags` with the values, unless flag objects are needed."""
    if node.attr == "__flags" and not asks_flags(node, part) and are_flags(
            node.value, part):
        end = part.text.span(node)[1]
        yield Change(part, end - len("__flags"), end, "flag_values_dict()")


def are_flags(node, part) -> bool:
    """Returns whether an object whose `__flags` is used contains the flags.

    In a class, the name would be a private attribute. Elsewhere in an old program, only
    flags have it, however they have reached the function.
    """
    project = part.file.project
    return part.class_of(node) is None and project.is_of_then(part.file) or \
        project.gives({"absl", "tf"}, node, part) is Certainty.YES


def asks_flags(node, part) -> bool:
    """Returns whether the code around a node reads `value` of flags."""
    while not isinstance(node, ast.stmt):
        node = part.parents[node]
    while isinstance(node, ast.Assign | ast.AnnAssign):
        node = part.parents[node]
    return any(isinstance(one, ast.Attribute) and one.attr == "value"
               for one in ast.walk(node))
