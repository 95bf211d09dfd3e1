"""Marks sampled losses that may pass the inputs before the labels.

`nce_loss` and `sampled_softmax_loss` took the inputs before the labels. Since
TensorFlow 1.0, the labels come first. The two can be told apart only by the names of
the variables, so the line is left for you, unless the third argument is clearly the
labels.

Since: TensorFlow 1.0
Lesson: 12a
Side: TensorFlow 0.12

Left:

    w = tf.placeholder(tf.float32)
    tf.nn.nce_loss(w, b, hidden, words, 64, 50)  # left: labels= and inputs=
    tf.nn.nce_loss(w, b, labels, hidden, 64, 50)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

LABELS = ("label", "target", "y_")


@rule.call("tf.nn.nce_loss", "tf.nn.sampled_softmax_loss")
def order(use):
    """Marks a sampled-loss call unless its third argument is clearly the labels."""
    if len(use.arguments) > 3 and not any(
            word in use.arguments[2] for word in LABELS):
        yield use.left("name labels= and inputs=, because the labels come first "
                       "since TensorFlow 1.0")
