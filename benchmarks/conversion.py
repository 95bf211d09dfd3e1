"""Our conversion, in which every picture is decoded, beside the document's loop.

python3 course.py bench conversion            # 20,000 files
python3 course.py bench conversion --quick    # 400

ours      helpers.records.write_tiny_imagenet_shards: checked, shuffled, whole
document  the loop of the records document as it is there: nothing is checked
limit     reads the files and nothing else
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.results import Table
from benchmarks.rounds import (
    commands,
    compared,
    compete,
    options_of,
    report,
    verdict,
)

OURS = ("ours",)
LIMIT = "limit"


def write_files(folder: Path, count: int) -> None:
    """Fills a Tiny ImageNet with copies of drawn pictures."""
    from helpers.shapes import write_tiny_shapes
    from helpers.tiny_layout import TinyLayout

    root = write_tiny_shapes(folder, num_classes=4, train=50, val=1)
    layout = TinyLayout(root)
    for synset in layout.synset_ids():
        paths = sorted(layout.train_images(synset).iterdir())
        layout.boxes(synset).unlink()
        for number in range(count // 4 - len(paths)):
            copy = paths[0].with_name(f"copy_{number}.JPEG")
            copy.write_bytes(paths[number % len(paths)].read_bytes())


def files_of(folder: Path) -> list:
    """Returns the pictures and their synsets."""
    from helpers.tiny_layout import FOLDER, TinyLayout

    return TinyLayout(folder / FOLDER).pictures("train")


def ours(folder: Path, out: Path) -> int:
    """Converts; returns the number of pictures."""
    from helpers import records

    records.write_tiny_imagenet_shards(folder, "train", out, 4, seed=1)
    return records.read_manifest(out)["records"]


def document(folder: Path, out: Path) -> int:
    """Converts as the records document does: one file, class by class, unchecked."""
    import glob
    import os

    import tensorflow as tf

    from helpers.tiny_layout import FOLDER, TinyLayout

    def feature(**values):
        return tf.train.Feature(**values)

    def example(image, label):
        return tf.train.Example(features=tf.train.Features(feature={
            "image": feature(bytes_list=tf.train.BytesList(value=[image])),
            "label": feature(int64_list=tf.train.Int64List(value=[label])),
        }))

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
    return count


def limit(folder: Path, out: Path) -> int:
    """Reads all files."""
    return sum(Path(path).read_bytes()[:2] == b"\xff\xd8"
               for path, _ in files_of(folder))


CONTESTANTS = {"ours": ours, "document": document, LIMIT: limit}


def main(arguments: list[str]) -> list[Table]:
    """Runs all contestants, or the one that `--one` names."""
    parser = options_of("conversion", CONTESTANTS)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        from helpers import records  # before the clock runs: TensorFlow's import

        records.make_example(b"", 1)
        with tempfile.TemporaryDirectory(dir=options.folder) as out:
            report(lambda: CONTESTANTS[options.one](options.folder, Path(out, "x")))
        return []
    if options.quick:
        options.rounds, options.files = 1, 400
    return [table_of(options, options.files)]


def table_of(options: argparse.Namespace, count: int) -> Table:
    """Returns the table of a folder of `count` files."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), count)
        arguments = ["--folder", folder]
        ways = commands("benchmarks.conversion", CONTESTANTS, arguments)
        results = compete(ways, options.rounds, quick=options.quick)
    note = verdict(results, "ours", "document", 0.5)
    return compared(f"{count:,} files", results, OURS, notes=[note])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
