"""TFRecords: write shards that are whole or absent, check them, read them.

`wire` knows the bytes, `shards` writes and checks sets of files, `pipeline` turns
them into batches of pictures, `blame` finds the record that cannot be read,
`tiny_imagenet` converts that folder layout.
"""

from helpers.records.blame import (
    NamingQueueRunner,
    find_bad_record,
    naming_bad_records,
)
from helpers.records.pipeline import (
    image_label_dataset,
    image_label_parser,
    image_label_queue,
    picture_size,
)
from helpers.records.shards import (
    check_shards,
    make_example,
    open_shards,
    read_manifest,
    write_shards,
)
from helpers.records.tiny_imagenet import write_tiny_imagenet_shards

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
    "write_shards",
    "write_tiny_imagenet_shards",
]
