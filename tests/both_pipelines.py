"""What the tests of records share: a JPEG file, and each pipeline read to its end."""

import io

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from PIL import Image

from helpers import queues, records

SIZE = 16


def jpeg(shade: int = 99, height: int = SIZE, width: int = SIZE, kind: str = "JPEG"):
    stream = io.BytesIO()
    pixels = np.full((height, width, 3), shade % 256, np.uint8)
    Image.fromarray(pixels).save(stream, kind)
    return stream.getvalue()


def through_queue(source, batch_size=7, **options):
    options = {"image_size": SIZE, "num_epochs": 1, "shuffle_buffer": 50, **options}
    with tf.Graph().as_default() as graph:
        batch = records.image_label_queue(source, batch_size, **options)
        with tf1.Session(graph=graph) as session:
            session.run(tf1.local_variables_initializer())
            with queues.running_queues(session, stall=30) as runner:
                return list(runner.steps(batch))


def through_dataset(source, batch_size=7, **options):
    options = {"image_size": SIZE, "num_epochs": 1, "shuffle_buffer": 50, **options}
    parser = records.image_label_parser(options["image_size"])
    with records.naming_bad_records(source, parser):
        dataset = records.image_label_dataset(source, batch_size, **options)
        return [(images.numpy(), labels.numpy()) for images, labels in dataset]


BOTH = pytest.mark.parametrize("read", [through_queue, through_dataset])
