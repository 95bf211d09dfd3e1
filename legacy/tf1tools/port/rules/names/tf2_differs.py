"""Reports calls that TensorFlow 2 accepts but answers with another result.

Under `compat.v1`, the call keeps its meaning, and nothing is changed. The report shows
what to watch for when you rewrite the program for TensorFlow 2. If a name is passed on
as a value, or a call has `*args`, the report assumes the worst. Differences in the
names or positions of arguments need no rule, because the signatures of both versions
show them.

Since: TensorFlow 2.0
Lesson: 10a
Side: none: nothing is written

Report:

    tf.nn.dropout(x, 0.5)  # another result: the fraction to drop
    tf.nn.dropout(x, rate=0.5)  # kept: tf.nn.dropout
    partial(tf.nn.dropout, keep_prob=0.5)  # another result: the fraction to drop
    tf.summary.scalar("a", x)  # another result: False
    tf.nn.embedding_lookup(table, ids)  # kept: tf.nn.embedding_lookup
    tf.nn.embedding_lookup([a, b], ids)  # another result: shards
    tf.nn.nce_loss(w, b, labels, inputs, 2, 3)  # kept: tf.nn.nce_loss
    tf.image.resize(x, [2, 2])  # another result: half-pixel
    tf.where(c, x, y)  # another result: selects no rows
    tf.where(c)  # kept: tf.where
    tf.device("/gpu:%d" % i)  # kept: tf.device
    tf.device(setter)  # replaced: it accepts no function
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

OTHER = "another result"


def has_shards(call) -> bool:
    """Returns whether a call passes a table in shards."""
    return call.first == "list" or "partition_strategy" in call.keywords


rule.in_tf2(OTHER, "tf.nn.dropout(rate=1 - keep_prob): the second argument is "
            "the fraction to drop",
            "tf.nn.dropout", when=lambda call: "rate" not in call.keywords)
rule.in_tf2(OTHER, "with several shards, the ids refer to other rows",
            "tf.nn.embedding_lookup", "tf.nn.embedding_lookup_sparse",
            "tf.nn.safe_embedding_lookup_sparse", "tf.nn.sampled_softmax_loss",
            "tf.nn.nce_loss", when=has_shards)
rule.in_tf2(OTHER, "tf.nn.sparse_softmax_cross_entropy_with_logits, or "
            "tf.stop_gradient(labels), because the labels get a gradient",
            "tf.nn.softmax_cross_entropy_with_logits",
            when=lambda call: call.positional < 2)
rule.in_tf2(OTHER, "tf.image.resize: half-pixel centres, [0, 2, 4] becomes "
            "[4.5, 6.5, 8.5]",
            "tf.image.resize")
rule.in_tf2(OTHER, "it returns False and writes nothing without "
            "tf.summary.create_file_writer", "tf.summary.scalar",
            "tf.summary.histogram", "tf.summary.image", "tf.summary.audio",
            "tf.summary.text")
rule.in_tf2(OTHER, "a condition with one axis is broadcast, and selects no rows",
            "tf.where",
            when=lambda call: call.positional + len(call.keywords) > 1)
rule.in_tf2(OTHER, "it returns a ragged tensor in place of a sparse one",
            "tf.strings.split")
rule.in_tf2(OTHER, "pass stddev, because its default changed from 1 to 0.05",
            "tf.random_normal_initializer",
            when=lambda call: call.positional < 2 and "stddev" not in call.keywords)
rule.in_tf2(OTHER, "pass minval and maxval, because the defaults changed from "
            "0 and 1 to -0.05 and 0.05", "tf.random_uniform_initializer",
            when=lambda call: call.positional + len(call.keywords) < 2)
rule.in_tf2(OTHER, "it is a Keras initializer, with other defaults and another "
            "use of the seed",
            "tf.initializers")
rule.in_tf2("replaced", "tf.device with a name, because it accepts no function",
            "tf.device",
            when=lambda call: call.first != "str")
