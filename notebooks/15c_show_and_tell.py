"""The source's graph Show and Tell, repaired and small, for lesson 15c.

An encoder computes features of a picture, and four recurrent layers turn them into a
caption of ten places. All names are those of the source, except for `teacher`.

The repairs, each with the lesson that shows the fault:

- `vgg_net` returns its end points, so no tensor is looked up by its name (15c).
- The picture is projected to the width of a word (15c).
- An output is kept before the next word is read, so there are ten of them (15c), and
  they are stacked along axis 1 (08a).
- The labels stay whole numbers (15c).
- The weights of the sampled loss have one row per word (12a).
- The decoder has a scope of its own, and the root scope is not set to reuse (01b).
- The initial weights are small, so the first loss is near ln(words) (08a).
- The encoder learns first, and stays as it is while the decoder learns (08b).
- Adam, with clipped gradients and a falling rate, replaces gradient descent (08a).
- The update increases the global step; the source's `inc_step` is never run (07a).
- No softmax comes before the argmax, because it does not change the order.
- `gru_cell` replaces the cells of `tf.contrib`, which is gone (10a).
"""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from PIL import Image

from helpers import captions, layers, training, vgg
from helpers.checkpoints import restore_latest

# OUT_VOCAB is an argument here, because the captions determine it.
OUT_EMBED_SIZE = 64
RNN_WIDTH, RNN_DEPTH = 128, 4
MAX_LEN_LABELS = 10
BATCH_SIZE = 64
NUM_NEG_SAMPLES = 10
KINDS = 18  # of objects in the drawn scenes


def vgg_net(incoming):
    """Returns the end points of the encoder by name: float32 `[batch, values]`."""
    with tf1.variable_scope("encoder", reuse=tf1.AUTO_REUSE):
        last_conv = layers.flatten(
            vgg.vgg_features(incoming, configuration="A", base_width=8))
        fc_1 = layers.fully_connected_xavier_relu_layer(last_conv, 512, name="fc_1")
    return {"last_conv": last_conv, "fc_1": fc_1}


class Encoder:
    """The encoder with its session: restored convolutions, and `fc_1`, which learns.

    Args:
      folder: Folder with a checkpoint of the convolutions.
    """

    def __init__(s, folder):
        with tf.Graph().as_default() as graph:
            tf1.set_random_seed(7)
            s.inputs = tf1.placeholder(tf.float32, [None, 64, 64, 3])
            s.objects = tf1.placeholder(tf.int32, [None, 2])
            s.end_points = vgg_net(s.inputs)
            head = layers.fully_connected_layer(
                s.end_points["fc_1"], 2 * KINDS, name="head")
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=s.objects - 1, logits=tf.reshape(head, [-1, 2, KINDS])))
            s.train = captions.train_op(
                loss, captions.variables_of("encoder/fc_1")
                + captions.variables_of("head"), tf1.train.AdamOptimizer(2e-3))
            convolutions = tf1.train.Saver([
                v for v in captions.variables_of("encoder") if "conv" in v.op.name])
            init = tf1.global_variables_initializer()
        s.session = tf1.Session(graph=graph)
        s.session.run(init)
        restore_latest(convolutions, s.session, folder)

    def last_conv(s, pictures, at_a_time=250):
        """Returns the features of the last convolution of captioned pictures."""
        paths = [picture.path for picture in pictures]
        return np.concatenate([s.session.run(s.end_points["last_conv"], {s.inputs: [
            np.asarray(Image.open(path)) / np.float32(127.5) - 1
            for path in paths[at:at + at_a_time]]})
            for at in range(0, len(paths), at_a_time)])

    def fit(s, steps, last_conv, pictures):
        """Trains `fc_1` to name the two objects of each picture."""
        objects = np.array([[thing.category for thing in picture.objects]
                            for picture in pictures])
        rng = np.random.default_rng(7)
        for _ in range(steps):
            rows = rng.integers(0, len(objects), BATCH_SIZE)
            s.session.run(s.train, {s.end_points["last_conv"]: last_conv[rows],
                                    s.objects: objects[rows]})

    def fc_1(s, last_conv):
        """Returns the features of the fully connected layer."""
        return s.session.run(
            s.end_points["fc_1"], {s.end_points["last_conv"]: last_conv})


def dec_cell(incoming, dec_state):
    """Runs the recurrent layers for one step; returns output and new state."""
    new_state = []
    for layer, old in enumerate(dec_state):
        incoming = layers.gru_cell(incoming, old, name=f"gru_{layer}")
        new_state.append(incoming)
    return incoming, tuple(new_state)


class ShowGraph(training.Model):
    """The graph `show_graph` with its session.

    It inherits `run`, `predict`, `save`, `restore` and `close` from `training.Model`.

    Args:
      end_point: End point of the encoder that the decoder sees.
      OUT_VOCAB: Number of words.
      steps: Number of steps after which the learning rate has fallen to its end.
      teacher: Whether the decoder reads the true words in training. Otherwise, it
        reads its own guesses, as in the source.
    """

    def __init__(s, end_point, OUT_VOCAB, *, steps, teacher=False):
        s.OUT_VOCAB = OUT_VOCAB
        with tf.Graph().as_default() as show_graph:
            tf1.set_random_seed(7)
            s.inputs = tf1.placeholder(tf.float32, [None, 64, 64, 3])
            s.labels = tf1.placeholder(tf.int32, [None, MAX_LEN_LABELS])
            s.labels_length = tf1.placeholder(tf.int32, [None])
            s.encoded_image = tf.stop_gradient(vgg_net(s.inputs)[end_point])
            outputs, logits = s._decode(s.labels if teacher else None)
            guessed = s._decode(None)[1] if teacher else logits
            predictions = tf.argmax(guessed, 2, tf.int32)

            mask = tf.less(tf.range(MAX_LEN_LABELS),
                           tf.expand_dims(s.labels_length, 1))
            s.mask = tf.cast(mask, tf.float32)
            s.loss_sum, s.words = captions.masked_loss(logits, s.labels, s.mask)
            losses = s.s_loss(outputs, s.labels)
            loss = tf.reduce_sum(losses * s.mask) / s.words

            global_step = tf1.train.get_or_create_global_step()
            learning_rate = tf1.train.cosine_decay(5e-3, global_step, steps, 0.01)
            with tf.control_dependencies([s.loss_sum]):  # the loss before the update
                train = captions.train_op(
                    loss, captions.variables_of("decoder"),
                    tf1.train.AdamOptimizer(learning_rate), global_step=global_step)
        super().__init__(show_graph, train, loss, incoming=s.encoded_image,
                         prediction=predictions)

    def _decode(s, read):
        """Returns outputs and logits; the decoder reads `read`, or its own guesses."""
        with tf1.variable_scope("decoder", reuse=tf1.AUTO_REUSE):
            output_embedding = tf1.get_variable(
                "output_embedding", [s.OUT_VOCAB, OUT_EMBED_SIZE])
            s.w = tf1.get_variable("w", [s.OUT_VOCAB, RNN_WIDTH])
            s.b = tf1.get_variable(
                "b", [s.OUT_VOCAB], initializer=tf1.zeros_initializer())
            shown = layers.fully_connected_layer(
                s.encoded_image, OUT_EMBED_SIZE, name="project")
            zeros = tf.zeros([tf.shape(shown)[0], RNN_WIDTH])
            prev, dec_state = dec_cell(shown, (zeros,) * RNN_DEPTH)
            outputs, logits = [], []
            for i in range(MAX_LEN_LABELS):
                outputs.append(prev)
                logits.append(tf.matmul(prev, s.w, transpose_b=True) + s.b)
                label_idx = (tf.argmax(logits[-1], 1, tf.int32) if read is None
                             else read[:, i])
                label_emb = tf.nn.embedding_lookup(output_embedding, label_idx)
                prev, dec_state = dec_cell(label_emb, dec_state)
        return tf.stack(outputs, axis=1), tf.stack(logits, axis=1)

    def s_loss(s, outputs, labels):
        """Returns the sampled loss of each place, float32 `[batch, time]`."""
        losses = tf.nn.sampled_softmax_loss(
            weights=s.w, biases=s.b, labels=tf.reshape(labels, [-1, 1]),
            inputs=tf.reshape(outputs, [-1, RNN_WIDTH]),
            num_sampled=NUM_NEG_SAMPLES, num_classes=s.OUT_VOCAB)
        return tf.reshape(losses, tf.shape(labels))

    def fit(s, steps, encoded, labels, labels_length):
        """Trains for some more steps on drawn rows, and returns the losses per word."""
        rng = np.random.default_rng(int(s.run(s.step)))
        losses = []
        for _ in range(steps):
            rows = rng.integers(0, len(labels), BATCH_SIZE)
            feeds = {s.encoded_image: encoded[rows], s.labels: labels[rows],
                     s.labels_length: labels_length[rows]}
            loss_sum, words, _ = s.run([s.loss_sum, s.words, s.train], feeds)
            losses.append(float(loss_sum / words))
        return losses

    def evaluate(s, encoded, labels, labels_length):
        """Returns the loss per word over the whole vocabulary."""
        loss_sum, words = s.run([s.loss_sum, s.words], {
            s.encoded_image: encoded, s.labels: labels,
            s.labels_length: labels_length})
        return loss_sum / words
