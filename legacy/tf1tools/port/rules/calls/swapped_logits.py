"""The labels come first in the cross entropies today, and the logits came first.

By position the two change places, under `compat.v1` too, and nothing complains: the
loss is a number and the network learns nothing. So both get names. Where the text says
that the labels stand first already, somebody has to look. A program of TensorFlow 2
gives the labels first and is left alone; so is 1.x, which took neither by position.

Since: TensorFlow 1.0
Sitting: 10a
Side: TensorFlow 0.12

Before:

    y = tf.placeholder(tf.float32)
    loss = tf.nn.softmax_cross_entropy_with_logits(out, y)

After:

    y = tf.placeholder(tf.float32)
    loss = tf.nn.softmax_cross_entropy_with_logits(logits=out, labels=y)

Stays:

    loss = tf.nn.softmax_cross_entropy_with_logits(y, out)

Stays:

    y = tf.placeholder(tf.float32)
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out)
    tf.nn.sigmoid_cross_entropy_with_logits(labels, out)  # left: name logits=

Report:

    tf.nn.softmax_cross_entropy_with_logits(a, b)  # another result: by position
    tf.nn.sigmoid_cross_entropy_with_logits(a, b)  # another result: by position
    tf.nn.sigmoid_cross_entropy_with_logits(logits=a, labels=b)  # kept: logits
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

NAMES = [f"tf.nn.{kind}_cross_entropy_with_logits"
         for kind in ("softmax", "sparse_softmax", "sigmoid")]
rule.in_tf2("another result", "logits=..., labels=...: by position the labels come "
            "first today, under compat.v1 too, and nothing complains", *NAMES,
            when=lambda call: call.positional > 1)


@rule.call(*NAMES)
def name_both(use):
    """Names what stands without a name."""
    if not use.call.positional or \
            {"logits", "labels"} & {*use.call.keywords}:
        return
    first, *more = use.arguments
    if use.call.open or any(word in first for word in ("label", "target", "y_")) or any(
            "logit" in one for one in more):
        yield use.left("name logits= and labels=")
    else:
        yield from use.name_arguments(*("logits", "labels")[:use.call.positional])
