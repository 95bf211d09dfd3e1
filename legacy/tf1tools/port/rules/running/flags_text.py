"""Removes `decode` from text flags, and reads the flags' dictionary from absl.

In Python 2, a text flag contained bytes. In Python 3 it contains text, which has no
`decode`. The dictionary `FLAGS.__dict__['__flags']` no longer holds the values, so a
method of absl returns them.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7, TensorFlow 1.4

Before:

    FLAGS = tf.flags.FLAGS
    words = FLAGS.start.decode("utf-8").split()
    print(FLAGS.__dict__["__flags"].items())

After:

    FLAGS = tf.flags.FLAGS
    words = FLAGS.start.split()
    print(FLAGS.flag_values_dict().items())

Stays:

    print(settings.start.decode("utf-8"))

In an old program, nothing else has a key `__flags`, so the rule also applies to flags
that a function receives:

Before:

    FLAGS = tf.flags.FLAGS
    def show(config):
        print(config.__dict__["__flags"], config.__flags)

After:

    FLAGS = tf.flags.FLAGS
    def show(config):
        print(config.flag_values_dict(), config.flag_values_dict())
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.rules.running.flags_absl import is_flags
from tf1tools.port.rules.running.flags_parse import are_flags, asks_flags

rule = Rule(__name__, __doc__, __file__)


@rule.node(ast.Call)
def no_decode(node, part):
    """Removes a call of `decode` on a flag."""
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "decode" and isinstance(
            function.value, ast.Attribute) and is_flags(function.value.value, part):
        yield part.instead(node, part.written(function.value))


@rule.node(ast.Subscript)
def no_dictionary(node, part):
    """Replaces the private dictionary of flags with `flag_values_dict()`."""
    held = node.value
    if isinstance(held, ast.Attribute) and held.attr == "__dict__" and getattr(
            node.slice, "value", "") == "__flags" and not asks_flags(
            node, part) and are_flags(held.value, part):
        yield part.instead(node, f"{part.written(held.value)}.flag_values_dict()")
