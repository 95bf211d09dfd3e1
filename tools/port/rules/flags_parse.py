"""TensorFlow's flags are absl's today, and looked at by another method.

Since: TensorFlow 1.5
Sitting: 10a
Side: TensorFlow 1.15

Before:

    FLAGS = tf.flags.FLAGS
    FLAGS._parse_flags()
    print(FLAGS.__flags)

After:

    FLAGS = tf.flags.FLAGS
    FLAGS.flag_values_dict()
    print(FLAGS.flag_values_dict())

Stays:

    FLAGS = tf.flags.FLAGS
    print(FLAGS.batch_size)
"""

from tools.port.rule import rows

rows({"._parse_flags()": ".flag_values_dict", ".__flags": ".flag_values_dict()"})
