"""Reports what TensorFlow 2 offers for a name that `compat.v1` still has.

Nothing is changed, because the old program runs on `compat.v1`. The report shows what
to use when you rewrite it for TensorFlow 2. The replacements are listed in
`tf2_instead.txt`, where "=" stands for the name itself. If the list has no entry, the
report uses the course's table of old names, and then TensorFlow's own table.

Since: TensorFlow 2.0
Lesson: 10a
Side: none: nothing is written

Report:

    tf.train.MomentumOptimizer(0.1, 0.9)  # moved: tf.keras.optimizers.SGD(momentum=...)
    tf.train.RMSPropOptimizer(0.1)  # moved: its average begins at 0
    tf.image.resize_bilinear(x, [2, 2])  # moved: half-pixel centres
    tf.flags.FLAGS.batch_size  # moved: argparse
    tf.python.framework.ops  # moved: tf, tf.compat.v1
    tf.examples.tutorials.mnist.input_data  # gone: tf.keras.datasets.mnist
    x.shape[1].value  # moved: an axis is an int
    tf.Session()  # moved: tf.function
    tf.saved_model.load(session, tags, folder)  # replaced: compat.v1's with a session
    tf.summary.scalar("a", x, collections=[])  # replaced: without collections=
    tf.argmax(x, dimension=1)  # replaced: axis
    tf.argmax(x, **options)  # replaced: the dictionary must contain none of
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows()
