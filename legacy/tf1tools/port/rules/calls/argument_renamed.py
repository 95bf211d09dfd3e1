"""Renames arguments that TensorFlow 1.0 and later call by another name.

Since: TensorFlow 1.0
Lesson: 10a
Side: TensorFlow 0.12

Before:

    tf.concat(concat_dim=1, values=[a, b])
    tf.scalar_summary(tags="loss", values=loss)

After:

    tf.concat(axis=1, values=[a, b])
    tf.summary.scalar(name="loss", tensor=loss)

Report:

    tf.concat(concat_dim=1, values=x)  # replaced: tf.concat with axis=
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    "tf.concat(concat_dim=)": "axis",
    "tf.split(split_dim=)": "axis", "tf.split(num_split=)": "num_or_size_splits",
    "tf.batch_matmul(adj_x=)": "adjoint_a", "tf.batch_matmul(adj_y=)": "adjoint_b",
    "tf.scalar_summary(tags=)": "name", "tf.scalar_summary(values=)": "tensor",
    "tf.histogram_summary(tag=)": "name", "tf.audio_summary(tag=)": "name",
    "tf.image_summary(tag=)": "name", "tf.image_summary(max_images=)": "max_outputs",
    "tf.nn.sigmoid_cross_entropy_with_logits(targets=)": "labels",
})
