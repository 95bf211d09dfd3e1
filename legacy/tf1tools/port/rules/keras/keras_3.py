"""Reports what Keras 3 offers for layers and arguments of legacy Keras.

The program itself runs unchanged on legacy Keras. The report shows what to use when you
rewrite it for Keras 3. The replacements are listed in `keras_3.txt`, under the names of
`compat.v1`.

Since: Keras 3
Lesson: 10a
Side: none: nothing is written

Report:

    tf.layers.dense(x, 3)  # gone: TF_USE_LEGACY_KERAS=1; in Keras 3 tf.keras.layers.De
    tf.layers.batch_normalization(x)  # gone: UPDATE_OPS
    tf.contrib.rnn.BasicLSTMCell(3)  # gone: TF_USE_LEGACY_KERAS=1; in Keras 3 tf.keras
    tf.keras.layers.CuDNNLSTM(3)  # gone: tf.keras.layers.LSTM
    tf.keras.layers.GRU(3)  # another result: reset_after=False
    tf.keras.optimizers.Adam(lr=0.1)  # replaced: learning_rate= for lr=
    tf.keras.layers.Embedding(input_dim=3, output_dim=2)  # kept: tf.keras.layers
    tf.keras.layers.Dense(3, input_shape=(2,))  # kept: tf.keras.layers.Dense
    tf.keras.applications.VGG16(weights=None)  # kept: tf.keras.applications.VGG16
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

LOST = {
    "lr": "learning_rate= for lr=", "decay": "a schedule for decay=",
    "batch_input_shape": "tf.keras.Input for batch_input_shape=",
    "weights": "set_weights for weights=",
}

rule.rows()
for word, words in LOST.items():
    rule.in_tf2("replaced", words, "tf.keras.layers", "tf.keras.optimizers",
           when=lambda call, word=word: word in call.keywords)
rule.in_tf2("another result", "pass reset_after=False for weights of Keras 2.0 or of "
            "GRUCell", "tf.keras.layers.GRU")
rule.in_tf2("another result", "pass training= to the call instead",
            "tf.keras.backend.learning_phase")
