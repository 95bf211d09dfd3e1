"""Names the arguments of `ctc_loss` calls that pass the inputs before the labels.

Since TensorFlow 1.0, the labels come first. If an old call passes its arguments by
position, TensorFlow raises an error, because the inputs are not a `SparseTensor`. If
the names of the variables show which argument is which, the arguments get names.
Otherwise the line is left for you.

Since: TensorFlow 1.0
Lesson: 10a
Side: TensorFlow 0.12

Before:

    seq_len = tf.placeholder(tf.int32, [None])
    loss = tf.nn.ctc_loss(logits, targets, seq_len)

After:

    seq_len = tf.placeholder(tf.int32, [None])
    loss = tf.nn.ctc_loss(inputs=logits, labels=targets, sequence_length=seq_len)

Stays:

    seq_len = tf.placeholder(tf.int32, [None])
    a = tf.nn.ctc_loss(targets, logits, seq_len)
    b = tf.nn.ctc_loss(x, z, seq_len)  # left: labels= and inputs=
"""

from tf1tools.port.rule import Rule
from tf1tools.port.rules.calls.sampled_loss import LABELS

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.nn.ctc_loss", "tf.contrib.ctc.ctc_loss")
def order(use):
    """Names the arguments of a `ctc_loss` call in the old order, or marks the call."""
    if use.call.positional < 2 or use.call.open:
        return
    labels = [any(word in one for word in LABELS) for one in use.arguments[:2]]
    if labels[1] and not labels[0] and use.call.positional < 4:
        yield from use.name_arguments("inputs", "labels", "sequence_length")
    elif labels[0] == labels[1]:
        yield use.left("name labels= and inputs=, because the labels come first "
                       "since TensorFlow 1.0")
