"""Marks `tf.svd` calls that pass `compute_uv` or `full_matrices` by position.

The two arguments changed places in TensorFlow 1.0. A call does not show which order was
meant, so the line is left for you.

Since: TensorFlow 1.0
Lesson: 10a
Side: TensorFlow 0.12

Left:

    a = tf.neg(b)
    s = tf.svd(x, False, True)  # left: name compute_uv= and full_matrices=
    s = tf.svd(x, compute_uv=False)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.svd", "tf.linalg.svd")
def order(use):
    """Marks a `tf.svd` call with more than one positional argument."""
    if use.call.positional > 1:
        yield use.left("name compute_uv= and full_matrices=, because they changed "
                       "places")
