"""TensorFlow 2 has the old name for something else: an old call fails there.

Under `compat.v1` the call means what it meant, and nothing is written. The report says
what TensorFlow 2 takes. That an argument is gone, or stands elsewhere, the signatures
of both tell without any row.

Since: TensorFlow 2.0
Sitting: 10a
Side: none: nothing is written

Report:

    tf.device("/gpu:%d" % i)  # kept: tf.device
    tf.device(setter)  # replaced: it takes no function
    tf.saved_model.load(session, tags, folder)  # replaced: compat.v1's with a session
    tf.summary.scalar("a", x, collections=[])  # replaced: without collections=
    tf.argmax(x, dimension=1)  # replaced: axis
"""

from tools.port.rule import another

another("tf.saved_model.load(folder), or compat.v1's with a session",
        "tf.saved_model.load")
another("iter(dataset)", "tf.data.Iterator")
another("tf.device with a name: it takes no function", "tf.device",
        when=lambda call: call.first != "str")
another("tf.test.compute_gradient(f, x)", "tf.test.compute_gradient")
another("tf.nn.ctc_loss(labels, logits, label_length, logit_length)", "tf.nn.ctc_loss")
another("tf.nn.erosion2d with data_format and dilations", "tf.nn.erosion2d")
another("tf.distribute.ParameterServerStrategy with a coordinator",
        "tf.distribute.experimental.ParameterServerStrategy")
another("tf.lite.TFLiteConverter.from_saved_model", "tf.lite.TFLiteConverter")
another("tf.compat.v1.losses.Reduction, or Keras's words", "tf.losses.Reduction")
another("tf.keras.metrics", "tf.metrics")
another("tf.keras.losses", "tf.losses")
