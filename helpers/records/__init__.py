"""TFRecord shards: writing, verification, reading, and input pipelines.

`wire` implements the file format. `writing` writes sets of shards, `shards` opens them,
and `checking` verifies every byte. `folders` converts folders of pictures. `pipeline`
turns shards into batches, and `blame` finds the record that cannot be read.
"""

from helpers.records.blame import (
    NamingQueueRunner,
    find_bad_record,
    naming_bad_records,
)
from helpers.records.checking import check_shards, picture_size
from helpers.records.folders import write_picture_shards, write_tiny_imagenet_shards
from helpers.records.pipeline import (
    image_label_dataset,
    image_label_parser,
    image_label_queue,
)
from helpers.records.shards import open_shards, read_manifest
from helpers.records.writing import make_example, write_shards

__all__ = [
    "NamingQueueRunner",
    "check_shards",
    "find_bad_record",
    "image_label_dataset",
    "image_label_parser",
    "image_label_queue",
    "make_example",
    "naming_bad_records",
    "open_shards",
    "picture_size",
    "read_manifest",
    "write_picture_shards",
    "write_shards",
    "write_tiny_imagenet_shards",
]
