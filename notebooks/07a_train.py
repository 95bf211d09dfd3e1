"""The training of lesson 07a as a program, to be killed and started again.

python 07a_train.py SOURCE BATCH FOLDER STEPS SEED DIES_AFTER

It restores what it finds in FOLDER, trains up to STEPS and saves every five steps;
it prints them, each with its loss on a fixed batch. After step DIES_AFTER it kills
itself; -1 is never.
"""

import os
import signal
import sys
from pathlib import Path

from helpers import lesson

lesson.begin("07a_multi_tower_vgg", seed=7)

import tensorflow as tf  # noqa: E402
import tensorflow.compat.v1 as tf1  # noqa: E402

from helpers import datasets, records, towers, training, vgg  # noqa: E402

DEVICES = towers.devices("auto")
CONFIG = towers.session_config(DEVICES)


class Program:
    """The graph: towers on a queue, and one fixed batch to look at."""

    def __init__(self, source: str, batch: int, seed: int):
        folder = datasets.grab_tin_records(source)
        size, _ = records.picture_size(folder / "train")
        self.classes = len((folder / "train.labels.txt").read_text().splitlines())
        with tf.Graph().as_default() as self.graph, tf.device("/cpu:0"):
            tf1.set_random_seed(7)
            step = tf1.train.get_or_create_global_step()
            optimizer = tf1.train.AdamOptimizer(2e-3)

            def tower(images, labels):
                loss = self.loss_of(images, labels)
                return loss, optimizer.compute_gradients(loss)

            taken = records.image_label_queue(
                folder / "train", batch, image_size=size, seed=seed)
            losses, gradients = zip(*towers.build_towers(
                tower, DEVICES, towers.split_batch(taken, len(DEVICES))), strict=True)
            averaged = towers.process_gradient_list(gradients, losses=losses)
            self.train = optimizer.apply_gradients(averaged, global_step=step)
            self.loss = tf.add_n(losses) / len(DEVICES)
            fixed = min(250, records.check_shards(folder / "val"))
            self.fixed = records.image_label_queue(
                folder / "val", fixed, image_size=size, shuffle_buffer=0)
            with tf1.variable_scope("", reuse=True):
                self.fixed_loss = self.loss_of(*self.fixed)

    def loss_of(self, images, labels):
        """Returns the mean loss of a narrow VGG."""
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=vgg.vgg_net(
                images, configuration="A", num_classes=self.classes, base_width=8)))


def main(source: str, batch: int, folder: Path, steps: int, seed: int, dies: int):
    """Goes on from the newest checkpoint."""
    program = Program(source, batch, seed)
    with program.graph.as_default():
        writer = tf1.summary.FileWriter(str(folder))

    def report(at):
        print(at, f"{model.run(program.fixed_loss, held):.4f}", flush=True)

    def after_step(at, value):
        writer.add_summary(tf1.Summary(value=[tf1.Summary.Value(
            tag="train/loss", simple_value=value)]), at)
        if at % 5 == 0:
            model.save(folder)
            writer.flush()
            report(at)
        if at == dies:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    with writer, training.Model(
            program.graph, program.train, program.loss, config=CONFIG) as model:
        held = dict(zip(program.fixed, model.run(program.fixed), strict=True))
        begun = model.restore(folder) or 0
        report(begun)
        model.fit(steps - begun, also=program.loss, each=after_step)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), *map(int, sys.argv[4:]))
