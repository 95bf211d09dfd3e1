"""Marks names of `tf.contrib` that no current package provides.

The line is left for you, with a replacement. The replacements are listed in
`contrib_gone.txt`.

Since: TensorFlow 2.0
Lesson: 10a
Side: none: nothing is written

Left:

    tf.contrib.crf.crf_log_likelihood(x, y, n)  # left: a forward pass in tf.scan
    tf.contrib.training.HParams(a=1)  # left: a dataclass

Report:

    tf.contrib.eager.Network()  # gone: tf.keras.Model
    tf.contrib.metrics.f1_score()  # gone: F1Score
    tf.contrib.learn.preprocessing.VocabularyProcessor(3)  # gone: dictionary
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows()
