"""Conversion of captioned pictures to records, and of records to padded batches.

Taught in lesson 08a, "Pairs become records" and "Records become batches".
"""

import functools
import os
from collections.abc import Callable, Iterator, Sequence

import tensorflow as tf

from helpers.arguments import SIDE, numbers, whole
from helpers.captions.vocabulary import Vocabulary
from helpers.datasets import CaptionedPicture
from helpers.errors import DataError
from helpers.jpeg import decode, read_jpegs
from helpers.pictures import from_bytes
from helpers.records import open_shards, wire

IMAGE, OBJECTS = "image/data", "image/objects"
PICTURE, IDS = "image/id", "image/caption_ids"


@numbers(captions_each=whole())
def make_pairs(
    pictures: Sequence[CaptionedPicture],
    vocabulary: Vocabulary,
    *,
    captions_each: int | None = None,
) -> Iterator[tf.train.SequenceExample]:
    """Yields one record per pair of a picture and one of its captions.

    A picture with five captions gives five records, so that shuffling works on pairs.

    Args:
      pictures: Captioned pictures, as returned by `grab_captions`.
      vocabulary: Vocabulary that converts words to ids.
      captions_each: Number of captions to use per picture, from the first one on.
        Default: all captions.

    Yields:
      A `SequenceExample`. Its context has `image/id`, `image/data` (the bytes of the
      JPEG file), and `image/objects` (the category numbers of the objects, in order).
      Its list `image/caption_ids` has one step per word, including `<S>` and `</S>`.

    Raises:
      DataError: If a picture is missing, damaged, or too large, or if a caption has no
        words. The message names the file.
    """
    contents = read_jpegs(picture.path for picture in pictures)
    for picture, jpeg in zip(pictures, contents, strict=True):
        context = tf.train.Features(feature={
            PICTURE: _ints([picture.id]),
            IMAGE: tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg])),
            OBJECTS: _ints([item.category for item in picture.objects]),
        })
        for caption in picture.captions[:captions_each]:
            ids = vocabulary.encode(caption)
            if len(ids) == 2:  # only <S> and </S>
                raise DataError(
                    f"Caption {caption!r} of {picture.path} contains no words. Correct "
                    "the caption, or remove it from the annotations."
                )
            steps = tf.train.FeatureList(feature=[_ints([k]) for k in ids])
            lists = tf.train.FeatureLists(feature_list={IDS: steps})
            yield tf.train.SequenceExample(context=context, feature_lists=lists)


@numbers(batch_size=whole(), image_size=whole(most=SIDE), seed=whole(0))
def caption_batches(
    path_prefix: str | os.PathLike,
    batch_size: int,
    *,
    image_size: int,
    seed: int | None = None,
) -> tf.data.Dataset:
    """Builds a dataset of padded batches of pictures and captions.

    In each batch, the targets are the inputs shifted by one word. To find the file and
    the record of an error, wrap the loop in `records.naming_bad_records(path_prefix,
    caption_parser(...))`.

    Args:
      path_prefix: Prefix of the shards, as passed to `records.write_shards`.
      batch_size: Number of pairs per batch. The last batch of an epoch may be smaller.
      image_size: Height and width to which pictures are resized.
      seed: Seed for training, where the pairs are shuffled and repeated endlessly. With
        `None`, the pairs are read once, in order.

    Returns:
      A dataset of dictionaries with `images`, float32 `[batch, height, width, 3]` in
      [-1, 1]; `inputs` and `targets`, int32 `[batch, time]`; `mask`, float32 `[batch,
      time]`, which is 1 where a target counts; and `picture`, int64 `[batch]`.

    Raises:
      DataError: If a shard is missing, truncated, or was never completed. A corrupted
        record raises a TensorFlow error only when its batch is read.
    """
    files = open_shards(path_prefix)
    pairs = wire.dataset(files)
    if seed is not None:
        pairs = pairs.shuffle(4096, seed=seed).repeat()
    pairs = pairs.map(
        caption_parser(image_size), num_parallel_calls=2, deterministic=True
    )
    return pairs.padded_batch(batch_size).prefetch(2)


@numbers(image_size=whole(most=SIDE))
def caption_parser(image_size: int) -> Callable[[tf.Tensor], dict[str, tf.Tensor]]:
    """Returns a function that parses one record into a picture and a caption.

    Args:
      image_size: Height and width to which the picture is resized.

    Returns:
      A function from one serialised `SequenceExample`, string `[]`, to a row of a batch
      of `caption_batches`, without padding.
    """
    return functools.partial(_parse, image_size=image_size)


def _parse(record, image_size) -> dict[str, tf.Tensor]:
    context, lists = tf.io.parse_single_sequence_example(
        record,
        context_features={
            PICTURE: tf.io.FixedLenFeature([], tf.int64),
            IMAGE: tf.io.FixedLenFeature([], tf.string),
        },
        sequence_features={IDS: tf.io.FixedLenSequenceFeature([], tf.int64)},
    )
    ids = tf.cast(lists[IDS], tf.int32)
    image = tf.image.resize(decode(context[IMAGE]), [image_size, image_size])
    return {
        "images": from_bytes(image),
        "inputs": ids[:-1],
        "targets": ids[1:],
        "mask": tf.ones_like(ids[1:], tf.float32),  # padding adds the zeros
        "picture": context[PICTURE],
    }


def _ints(values) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
