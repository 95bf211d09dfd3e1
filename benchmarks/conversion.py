"""Our conversion, in which every picture is decoded, beside the document's loop.

python -m benchmarks.conversion            # 20,000 files
python -m benchmarks.conversion --quick    # 200

ours      helpers.records.write_tiny_imagenet_shards: checked, shuffled, whole
pillow    the same, with each picture checked by Pillow in one thread, as it was
document  the loop of the records document: reads and writes, checks nothing
limit     reads the files and nothing else
"""

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks.rounds import compete, print_table, report

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


def pillow(folder: Path, out: Path) -> int:
    """Converts with another decoder's check, one picture after the other."""
    import io

    from PIL import Image

    from helpers import records

    def examples():
        for path, _ in files_of(folder):
            contents = path.read_bytes()
            Image.open(io.BytesIO(contents), formats=["JPEG"]).load()
            yield records.make_example(contents, 1)

    records.write_shards(examples(), out, 4, seed=1)
    return records.read_manifest(out)["records"]


def document(folder: Path, out: Path) -> int:
    """Converts as the records document does: one file, in the order of the classes."""
    import tensorflow as tf

    from helpers import records

    pairs = files_of(folder)
    writer = tf.io.TFRecordWriter(str(out))
    for path, _ in pairs:
        writer.write(records.make_example(path.read_bytes(), 1).SerializeToString())
    writer.close()
    return len(pairs)


def limit(folder: Path, out: Path) -> int:
    """Reads all files."""
    return sum(path.read_bytes()[:2] == b"\xff\xd8" for path, _ in files_of(folder))


CONTESTANTS = {"ours": ours, "pillow": pillow, "document": document, LIMIT: limit}


def main(arguments: list[str]) -> None:
    """Runs all contestants, or the one that `--one` names."""
    parser = argparse.ArgumentParser(prog="course.py bench conversion")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--one", choices=CONTESTANTS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        from helpers import records  # before the clock runs: TensorFlow's import

        records.make_example(b"", 1)
        with tempfile.TemporaryDirectory(dir=options.folder) as out:
            report(lambda: CONTESTANTS[options.one](options.folder, Path(out, "x")))
        return
    if options.quick:
        options.rounds, options.files = 1, 400
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.files)
        results = compete("benchmarks.conversion", list(CONTESTANTS), options.rounds,
                          ["--folder", folder])
    print_table(results, OURS, LIMIT)
    print(f"ours is {results['ours'].rate / results['document'].rate:.2f} of the "
          "document's unchecked loop")
    if options.json:
        measured = {name: one._asdict() for name, one in results.items()}
        options.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
