"""Names the arguments of cross-entropies that pass the logits before the labels.

Today the labels come first. If an old call passes the logits first, TensorFlow
exchanges the two without an error, under `compat.v1` too: the loss is a number, but the
network learns nothing. So both arguments get names. If the names of the variables
suggest that the labels already come first, the line is left for you. Programs of
TensorFlow 2 pass the labels first and are not changed. Neither are programs of
TensorFlow 1.x, which accepted only keyword arguments.

Since: TensorFlow 1.0
Lesson: 10a
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
rule.in_tf2("another result", "logits=..., labels=...; by position, the labels come "
            "first today, under compat.v1 too, and no error is raised", *NAMES,
            when=lambda call: call.positional > 1)


@rule.call(*NAMES)
def name_both(use):
    """Names the positional arguments of a cross-entropy, or marks the call."""
    if not use.call.positional or \
            {"logits", "labels"} & {*use.call.keywords}:
        return
    first, *more = use.arguments
    if use.call.open or any(word in first for word in ("label", "target", "y_")) or any(
            "logit" in one for one in more):
        yield use.left("name logits= and labels=, because the labels come first "
                       "today")
    else:
        yield from use.name_arguments(*("logits", "labels")[:use.call.positional])
