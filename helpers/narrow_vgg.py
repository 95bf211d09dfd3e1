"""A narrow VGG that has learnt our drawn classes: for lessons that begin from one.

Taught in lesson 06b, 'The graph for training'.
"""

import os
from pathlib import Path

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import save_numbered
from helpers.datasets import grab_tin_records
from helpers.files import MANIFEST, data_folder, sha256, whole_or_absent
from helpers.records import image_label_dataset, picture_size, read_manifest
from helpers.vgg import vgg_net

BATCH = 25
DECAY = 5e-4  # of the kernels
_MAKER = "helpers.narrow_vgg.grab_narrow_vgg, version 1"


def grab_narrow_vgg(source: str | os.PathLike = "drawn", *, epochs: int = 6) -> Path:
    """Returns a folder with the weights of a narrow VGG, after training it if need be.

    The net is `vgg_net(..., configuration="A", base_width=8)` with a class for each of
    the source; six epochs of the drawn pictures take a minute on two cores, once.

    Args:
      source: as for `grab_tin_records`.
      epochs: how often each training picture is seen.

    Returns:
      `data/checkpoints/narrow-vgg-...`, with one checkpoint for
      `checkpoints.restore_latest`: the variables `conv1_1/kernel` to `fc8/bias`.
    """
    records = grab_tin_records(source)
    folder = data_folder() / "checkpoints" / f"narrow-vgg-{records.name}-{epochs}"
    made_from = sha256(records / MANIFEST)
    with whole_or_absent(folder, made_by=_MAKER, made_from=made_from) as draft:
        if draft:
            _train(records, draft, epochs)
    return folder


def _train(records: Path, folder: Path, epochs: int) -> None:
    steps = max(1, epochs * read_manifest(records / "train")["records"] // BATCH)
    classes = len((records / "train.labels.txt").read_text().splitlines())
    size = picture_size(records / "train")
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        dataset = image_label_dataset(
            records / "train", BATCH, image_size=size, augment=True, seed=7
        )
        iterator = tf1.data.make_initializable_iterator(dataset)
        images, labels = iterator.get_next()
        turns = tf.random.uniform([], 0, 4, tf.int32)
        logits = vgg_net(
            tf.image.rot90(images, turns), 0.9,
            configuration="A", num_classes=classes, base_width=8,
        )
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        weights = tf1.trainable_variables()
        loss += DECAY * tf.add_n(
            [tf.nn.l2_loss(v) for v in weights if v.op.name.endswith("/kernel")]
        )
        step = tf1.train.get_or_create_global_step()
        adam = tf1.train.AdamOptimizer(tf1.train.cosine_decay(1e-3, step, steps))
        train = adam.minimize(loss, step)
        saver = tf1.train.Saver(weights)
        init = tf1.global_variables_initializer()
    with tf1.Session(graph=graph) as session:
        session.run([init, iterator.initializer])
        for _ in range(steps):
            session.run(train)
        save_numbered(saver, session, folder, steps)
