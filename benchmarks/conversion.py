"""Our conversion, in which every picture is decoded, beside the document's loop.

python3 course.py bench conversion            # 100,000 files
python3 course.py bench conversion --quick    # 400

ours      helpers.records.write_tiny_imagenet_shards: checked, shuffled, whole
document  the loop of the records document as it is there: nothing is checked
"""

import glob
import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import tensorflow as tf

from benchmarks import rounds
from helpers import records
from helpers.shapes import write_tiny_shapes
from helpers.tiny_layout import FOLDER, TinyLayout
from tools import notebook as nb


def write_files(folder: Path, count: int) -> None:
    """Fills a Tiny ImageNet with copies of drawn pictures."""
    layout = TinyLayout(write_tiny_shapes(folder, num_classes=4, train=50, val=1))
    for synset in layout.synset_ids():
        paths = sorted(layout.train_images(synset).iterdir())
        for number in range(count // 4 - len(paths)):
            copy = paths[0].with_name(f"copy_{number}.JPEG")
            copy.write_bytes(paths[number % len(paths)].read_bytes())


def ours(folder: Path, out: Path) -> Iterator[int]:
    """Converts; yields the number of pictures."""
    yield 0  # the import was the warm-up
    records.write_tiny_imagenet_shards(folder, "train", out, 4, seed=1)
    yield records.read_manifest(out)["records"]


def document(folder: Path, out: Path) -> Iterator[int]:
    """Converts as the records document does: one file, class by class, unchecked."""
    def example(image, label):
        return tf.train.Example(features=tf.train.Features(feature={
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        }))

    example(b"", 1)
    yield 0
    root, count = folder / FOLDER, 0
    ids = TinyLayout(root).synset_ids()
    writer = tf.io.TFRecordWriter(str(out))
    for synset in glob.glob(os.path.join(root, "train", "n*")):
        label = ids[os.path.basename(synset)]
        for name in glob.glob(os.path.join(synset, "images/*.JPEG")):
            with open(name, "rb") as file:
                contents = file.read()
            writer.write(example(contents, label).SerializeToString())
            count += 1
    writer.close()
    yield count


CONTESTANTS = {"ours": ours, "document": document}


def converted(folder: Path, name: str) -> rounds.Result:
    """Returns what a contestant does with the pictures of a folder."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        return rounds.timed(CONTESTANTS[name](folder, Path(out, "x")), 1, 1)


def main(arguments: list[str]) -> rounds.Table:
    """Runs both contestants."""
    parser = rounds.options_of("conversion")
    parser.add_argument("--files", type=nb.count, default=100_000)
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.files = 1, 400
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.files)
        run = partial(converted, Path(folder))
        results = rounds.compete(CONTESTANTS, run, options.rounds,
                                 CONTESTANTS if options.quick else ())
    note = rounds.verdict(results, "ours", "document", 0.5)
    return rounds.compared(f"{options.files:,} files", results, [note])
