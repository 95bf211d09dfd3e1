"""Replaces the losses and the decoder of `seq2seq` with the module `old_seq2seq`.

Many character models and translators of 2016 use `legacy_seq2seq`, which was removed
with contrib. The module `old_seq2seq.py` computes the same losses as TensorFlow 1.15.
Because it is imported by its bare name, it is put into the folder in which the program
starts. The decoders with attention are not included.

Since: TensorFlow 2.0
Lesson: 08a
Side: TensorFlow 1.15

Before:

    # file: train.py
    import tensorflow as tf
    from tensorflow.contrib import legacy_seq2seq
    logits = tf.placeholder(tf.float32, [5, 4])
    loss = legacy_seq2seq.sequence_loss_by_example([logits], [y], [w])
    cost = tf.contrib.seq2seq.sequence_loss(a, b, c)

After:

    # file: old_seq2seq.py
    # file: train.py
    import old_seq2seq
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    import old_seq2seq as legacy_seq2seq
    logits = tf.placeholder(tf.float32, [5, 4])
    loss = legacy_seq2seq.sequence_loss_by_example([logits], [y], [w])
    cost = old_seq2seq.batch_sequence_loss(a, b, c)

Left:

    tf.contrib.legacy_seq2seq.attention_decoder(x, s, a, c)  # left: write your own loop
"""

from tf1tools.port.rule import Need, Rule

rule = Rule(__name__, __doc__, __file__)

LOOP = "write your own loop, like the decoder of lesson 08a"
rule.rows({
    "tf.contrib.legacy_seq2seq": ("old_seq2seq", LOOP),
    "tf.contrib.legacy_seq2seq.python.ops.seq2seq": ("old_seq2seq", LOOP),
    "tf.nn.seq2seq": ("old_seq2seq", LOOP),
    "tf.models.rnn.seq2seq": ("old_seq2seq", LOOP),
    "tf.python.ops.seq2seq": ("old_seq2seq", LOOP),
    "tf.contrib.seq2seq": ("", LOOP),
    "tf.contrib.seq2seq.sequence_loss": "old_seq2seq.batch_sequence_loss",
})


@rule.writes("old_seq2seq")
def stand_in(new, part):
    """Requires the module `old_seq2seq` next to the program."""
    yield Need(part, "beside old_seq2seq.py")
