"""Notes `reuse` scopes, which share weights in `tf.layers` but not in Keras 3.

Under legacy Keras, the program runs unchanged. The note is for the day when you replace
its layers with those of Keras 3.

Since: Keras 3
Lesson: 01b
Side: TensorFlow 1.15

Noted:

    with tf.variable_scope("net", reuse=True):  # note: call it twice
        y = tf.layers.dense(x, 3)
"""

from tf1tools.port.rule import Note, Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.variable_scope")
def shares(use):
    """Adds a note to a scope with `reuse` in a file that uses `tf.layers`."""
    if "reuse" in use.call.keywords and any(
            other.name.startswith(("tf.layers.", "tf.contrib.layers."))
            for other in use.part.file.uses):
        yield Note(use.part, use.line, "reuse shares the weights of the old layers, "
                   "but not of those of Keras 3: there, create each layer once and "
                   "call it twice")
