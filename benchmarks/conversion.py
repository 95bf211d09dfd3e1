"""Our conversion, in which every picture is decoded, beside the document's loop.

python3 course.py bench conversion            # 100,000 files
python3 course.py bench conversion --quick    # 400

ours      helpers.records.write_tiny_imagenet_shards: checked, shuffled, whole
document  the loop of the records document as it is there: nothing is checked
"""

import argparse
import glob
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rounds import Table, compared, compete, options_of, timed, verdict


def write_files(folder: Path, count: int) -> None:
    """Fills a Tiny ImageNet with copies of drawn pictures."""
    from helpers.shapes import write_tiny_shapes
    from helpers.tiny_layout import TinyLayout

    layout = TinyLayout(write_tiny_shapes(folder, num_classes=4, train=50, val=1))
    for synset in layout.synset_ids():
        paths = sorted(layout.train_images(synset).iterdir())
        for number in range(count // 4 - len(paths)):
            copy = paths[0].with_name(f"copy_{number}.JPEG")
            copy.write_bytes(paths[number % len(paths)].read_bytes())


def ours(folder: Path, out: Path) -> Iterator[int]:
    """Converts; yields the number of pictures."""
    from helpers import records

    yield 0  # the import was the warm-up
    records.write_tiny_imagenet_shards(folder, "train", out, 4, seed=1)
    yield records.read_manifest(out)["records"]


def document(folder: Path, out: Path) -> Iterator[int]:
    """Converts as the records document does: one file, class by class, unchecked."""
    import tensorflow as tf

    from helpers.tiny_layout import FOLDER, TinyLayout

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


def main(arguments: list[str]) -> Table | None:
    """Runs both contestants, or the one that `--one` names."""
    parser = options_of("conversion", list(CONTESTANTS))
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        with tempfile.TemporaryDirectory(dir=options.folder) as out:
            timed(CONTESTANTS[options.one](options.folder, Path(out, "x")), 1, 1)
        return None
    if options.quick:
        options.rounds, options.files = 1, 400
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.files)
        line = ["benchmarks.conversion", "--folder", folder, "--one"]
        ways = {name: [*line, name] for name in CONTESTANTS}
        results = compete(ways, options.rounds, ways if options.quick else ())
    note = verdict(results, "ours", "document", 0.5)
    return compared(f"{options.files:,} files", results, [note])


if __name__ == "__main__":
    main(sys.argv[1:])
