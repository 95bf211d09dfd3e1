"""Marks `weighted_cross_entropy_with_logits` calls that may pass the logits first.

The logits came first before TensorFlow 1.0. Today the labels come first, and no error
is raised if the two are exchanged. If the names of the variables suggest the old order,
the line is left for you.

Since: TensorFlow 1.0
Lesson: 10a
Side: TensorFlow 0.12

Left:

    y = tf.placeholder(tf.float32)
    a = tf.nn.weighted_cross_entropy_with_logits(logits, y, 2.0)  # left: labels=
    b = tf.nn.weighted_cross_entropy_with_logits(y, out, 2.0)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.nn.weighted_cross_entropy_with_logits")
def order(use):
    """Marks a weighted cross-entropy call that seems to pass the logits first."""
    if use.call.positional > 1 and (
            "logit" in use.arguments[0] or "label" in use.arguments[1]
            or "target" in use.arguments[1]):
        yield use.left("name labels= and logits=, because the labels come first "
                       "today")
