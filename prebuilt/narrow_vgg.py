"""Trains the narrow VGG of this folder, as lesson 06b does.

    .venv/bin/python -m prebuilt.narrow_vgg [FOLDER]

Lesson 06c begins from it, so that it needs no file that another lesson made.
"""

import sys
from pathlib import Path

import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tqdm import tqdm

from helpers.datasets import grab_tin_records
from helpers.records import image_label_dataset
from helpers.vgg import vgg_net

FOLDER = Path(__file__).resolve().parent / "narrow_vgg"
CLASSES, SIZE, BATCH, STEPS = 20, 64, 25, 960  # six epochs of the drawn pictures
DECAY = 5e-4  # of the kernels


def train(folder: Path = FOLDER):
    """Trains `vgg_net(..., configuration="A", base_width=8)` and saves its weights."""
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        dataset = image_label_dataset(
            grab_tin_records("drawn") / "train", BATCH, image_size=SIZE, augment=True,
            seed=7)
        iterator = tf1.data.make_initializable_iterator(dataset)
        images, labels = iterator.get_next()
        turns = tf.random.uniform([], 0, 4, tf.int32)
        logits = vgg_net(
            tf.image.rot90(images, turns), 0.9,
            configuration="A", num_classes=CLASSES, base_width=8)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        weights = tf1.trainable_variables()
        penalty = DECAY * tf.add_n(
            [tf.nn.l2_loss(v) for v in weights if v.op.name.endswith("/kernel")])
        step = tf1.train.get_or_create_global_step()
        adam = tf1.train.AdamOptimizer(tf1.train.cosine_decay(1e-3, step, STEPS))
        update = adam.minimize(loss + penalty, step)
        saver = tf1.train.Saver(weights, save_relative_paths=True)
        init = tf1.global_variables_initializer()
    with tf1.Session(graph=graph) as session:
        session.run([init, iterator.initializer])
        for _ in tqdm(range(STEPS)):
            session.run(update)
        saver.save(session, str(folder / "model.ckpt"), STEPS, write_meta_graph=False)


if __name__ == "__main__":
    train(*map(Path, sys.argv[1:]))
