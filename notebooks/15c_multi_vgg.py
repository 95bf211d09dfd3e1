"""The source's class `Multi_VGG_Model`, repaired and narrow, for lesson 15c.

Records feed a queue, the queue feeds towers, and one update changes the weights. All
names are those of the source, except for `devices`, `folder` and `status`.
"""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import records, towers, training, vgg

BATCH_SIZE = 16  # pictures per tower
KEEP_PROB = 0.9
LEARNING_RATE, DECAY_STEPS, DECAY_FACTOR = 2e-3, 100, 0.7


def vgg_net(incoming, keep_prob, num_classes):
    """Returns logits, from configuration A with 8 kernels in its first block."""
    return vgg.vgg_net(incoming, keep_prob, configuration="A",
                       num_classes=num_classes, base_width=8)


class Multi_VGG_Model(training.Model):
    """VGG on several towers, with the source's method names.

    It inherits `run`, `predict`, `save`, `restore` and `close` from `training.Model`.
    """

    def __init__(s, num_towers, config, *, devices, folder, status, num_classes=20):
        image_size = records.picture_size(folder / "train")
        graph = tf.Graph()
        with graph.as_default(), tf.device("/cpu:0"):
            tf1.set_random_seed(7)
            with tf.name_scope("step"):
                s.global_step = tf1.train.get_or_create_global_step()
            with tf.name_scope("inputs"):
                s.num_classes = num_classes
                s.keep_prob = tf1.placeholder_with_default(1.0, [], "keep_prob")
                s.image_batch, s.label_batch = records.image_label_queue(
                    folder / "train", num_towers * BATCH_SIZE,
                    image_size=image_size, seed=7)
                slices = towers.split_batch((s.image_batch, s.label_batch), num_towers)
            with tf.name_scope("train"):
                lr = tf1.train.exponential_decay(
                    LEARNING_RATE, s.global_step, DECAY_STEPS, DECAY_FACTOR,
                    staircase=True)
                s.opt = tf1.train.AdamOptimizer(lr)
                s.tower_losses = []
                s.tower_grads = [
                    s._build_tower(f"tower_{i:02d}", i == 0, devices[i], *slices[i])
                    for i in range(num_towers)]
                s.avg_gradients = towers.process_gradient_list(
                    s.tower_grads, losses=s.tower_losses)
                train = s.opt.apply_gradients(s.avg_gradients, s.global_step)
                loss = tf.add_n(s.tower_losses) / num_towers
            with tf.name_scope("summaries"):
                tf1.summary.scalar("loss", loss)
                tf1.summary.scalar("learning_rate", lr)
                for grad, var in s.avg_gradients:
                    tf1.summary.histogram(var.op.name + "_gradients", grad)
                for var in tf1.trainable_variables():
                    tf1.summary.histogram(var.op.name, var)
                s.merged_summaries = tf1.summary.merge_all()
            with tf.name_scope("predict"), tf1.variable_scope("", reuse=True):
                shape = [None, *s.image_batch.shape[1:]]
                x = tf1.placeholder(tf.float32, shape, "x")
                y_hat = vgg_net(x, 1.0, num_classes)
            s.status = status
            s.writer = tf1.summary.FileWriter(str(status), graph)
        super().__init__(graph, train, loss, incoming=x, prediction=y_hat,
                         config=config)
        s._stack.callback(s.writer.close)

    def _build_tower(s, name, first_tower, device, image_batch, label_batch):
        with (tf.name_scope(name), tf.device(device),
              tf1.device(towers.variables_on("/cpu:0"))):
            with tf1.variable_scope(tf1.get_variable_scope()) as curr_scope:
                if not first_tower:
                    curr_scope.reuse_variables()
                logits = vgg_net(image_batch, s.keep_prob, s.num_classes)
            smce = tf.nn.sparse_softmax_cross_entropy_with_logits
            tower_loss = tf.reduce_mean(smce(labels=label_batch, logits=logits))
            s.tower_losses.append(tower_loss)
            tower_grads = s.opt.compute_gradients(tower_loss)
            return tower_grads

    def fit(s, steps, summary_step=None, checkpoint_step=None):
        """Trains for some more steps, and returns their losses."""
        losses, begun = [], int(s.run(s.global_step))
        for step in range(begun + 1, begun + steps + 1):
            do_summaries = summary_step and step % summary_step == 0
            do_checkpoint = checkpoint_step and step % checkpoint_step == 0
            also = s.merged_summaries if do_summaries else ()
            loss, _, summaries = s.run(
                [s.loss, s.train, also], {s.keep_prob: KEEP_PROB})
            losses.append(float(loss))
            if do_summaries:
                s.write_summaries(summaries, step)
            if do_checkpoint:
                s.save_checkpoint()
        return losses

    def write_summaries(s, summaries, step):
        """Writes the summaries of one step into the event file."""
        s.writer.add_summary(summaries, step)
        s.writer.flush()

    def save_checkpoint(s):
        """Saves all variables under the global step."""
        return s.save(s.status)
