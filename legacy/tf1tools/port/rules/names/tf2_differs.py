"""Reports calls that TensorFlow 2 accepts but answers with another result.

Under `compat.v1`, the call keeps its meaning, and nothing is changed. The report shows
what to watch for when you rewrite the program for TensorFlow 2. If a name is passed on
as a value, or a call has `*args`, the report assumes the worst. Differences in the
names or positions of arguments need no rule, because the signatures of both versions
show them.

Since: TensorFlow 2.0
Sitting: 10a
Side: none: nothing is written

Report:

    tf.nn.dropout(x, 0.5)  # another result: the second argument drops
    tf.nn.dropout(x, rate=0.5)  # kept: tf.nn.dropout
    partial(tf.nn.dropout, keep_prob=0.5)  # another result: the second argument drops
    tf.summary.scalar("a", x)  # another result: False
    tf.nn.embedding_lookup(table, ids)  # kept: tf.nn.embedding_lookup
    tf.nn.embedding_lookup([a, b], ids)  # another result: shards
    tf.nn.nce_loss(w, b, labels, inputs, 2, 3)  # kept: tf.nn.nce_loss
    tf.image.resize(x, [2, 2])  # another result: half-pixel
    tf.where(c, x, y)  # another result: picks rows no more
    tf.where(c)  # kept: tf.where
    tf.device("/gpu:%d" % i)  # kept: tf.device
    tf.device(setter)  # replaced: it takes no function
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

OTHER = "another result"


def has_shards(call) -> bool:
    """Returns whether a call passes a table in shards."""
    return call.first == "list" or "partition_strategy" in call.keywords


rule.in_tf2(OTHER, "tf.nn.dropout(rate=1 - keep_prob): the second argument drops",
            "tf.nn.dropout", when=lambda call: "rate" not in call.keywords)
rule.in_tf2(OTHER, "the ids of several shards go to other rows",
            "tf.nn.embedding_lookup", "tf.nn.embedding_lookup_sparse",
            "tf.nn.safe_embedding_lookup_sparse", "tf.nn.sampled_softmax_loss",
            "tf.nn.nce_loss", when=has_shards)
rule.in_tf2(OTHER, "tf.nn.sparse_softmax_cross_entropy_with_logits, or "
            "tf.stop_gradient(labels): the labels get a gradient",
            "tf.nn.softmax_cross_entropy_with_logits",
            when=lambda call: call.positional < 2)
rule.in_tf2(OTHER, "tf.image.resize: half-pixel centres, [0, 2, 4] becomes "
            "[4.5, 6.5, 8.5]",
            "tf.image.resize")
rule.in_tf2(OTHER, "it gives False and writes nothing without "
            "tf.summary.create_file_writer", "tf.summary.scalar",
            "tf.summary.histogram", "tf.summary.image", "tf.summary.audio",
            "tf.summary.text")
rule.in_tf2(OTHER, "a condition of one axis picks rows no more: it broadcasts",
            "tf.where",
            when=lambda call: call.positional + len(call.keywords) > 1)
rule.in_tf2(OTHER, "a ragged tensor in place of a sparse one", "tf.strings.split")
rule.in_tf2(OTHER, "give stddev: its default went from 1 to 0.05",
            "tf.random_normal_initializer",
            when=lambda call: call.positional < 2 and "stddev" not in call.keywords)
rule.in_tf2(OTHER, "give minval and maxval: the defaults went from 0 and 1 to "
            "-0.05 and 0.05", "tf.random_uniform_initializer",
            when=lambda call: call.positional + len(call.keywords) < 2)
rule.in_tf2(OTHER, "a Keras initializer: its defaults and its seed work otherwise",
            "tf.initializers")
rule.in_tf2("replaced", "tf.device with a name: it takes no function", "tf.device",
            when=lambda call: call.first != "str")
