"""Names the arguments of `tf.concat` and `tf.split` calls that pass the axis first.

Since TensorFlow 1.0, the values come first. If an old call passes its arguments by
position, TensorFlow takes the axis for the values, so the arguments get names. The rule
recognises the old order by its literals: an integer as first argument is an axis, and a
list as second argument contains the values.

Since: TensorFlow 1.0
Lesson: 10a
Side: TensorFlow 0.12

Before:

    c = tf.concat(1, [a, b])
    d = tf.split(0, 2, c)

After:

    c = tf.concat(axis=1, values=[a, b])
    d = tf.split(axis=0, num_or_size_splits=2, value=c)

Stays:

    c = tf.concat([a, b], 1)
    d = tf.split(c, 2, 0)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


def has_axis_first(use_call) -> bool:
    """Returns whether the first argument is an integer."""
    return use_call.first == "int"


rule.signs("tf.concat", "tf.split", when=has_axis_first)
rule.in_tf2("replaced", "tf.concat(values, axis)", "tf.concat",
            when=has_axis_first)
rule.in_tf2("replaced", "tf.split(value, number, axis)", "tf.split",
            when=has_axis_first)


@rule.call("tf.concat")
def concat(use):
    """Names both arguments of a `tf.concat` call in the old order."""
    if use.call.positional == 2 and use.call.first != "list" and (
            use.call.first == "int" or use.call.second == "list"):
        yield from use.name_arguments("axis", "values")


@rule.call("tf.split")
def split(use):
    """Names all three arguments of a `tf.split` call in the old order."""
    if use.call.positional == 3 and use.call.first == "int":
        yield from use.name_arguments("axis", "num_or_size_splits", "value")
