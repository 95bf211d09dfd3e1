"""Runs benchmarks by name; all of them without one.

python3 course.py bench [NAME ...] [--quick] [OPTIONS OF ONE]
"""

import argparse
import importlib
import sys

from benchmarks.rounds import text_of
from helpers import lesson

# What can be measured: its module here is called the same and has a `main`.
NAMES = {
    "towers": "four towers of VGG-19 beside MirroredStrategy",
    "pipeline": "reading records: our queue and dataset beside other ways to write it",
    "conversion": "folders of pictures to records, beside the document's loop",
    "growth": "how the time grows with the work, for what reads or builds",
}


def main(arguments: list[str]) -> int:
    names = "\n".join(f"  {name:12s} {what}" for name, what in NAMES.items())
    parser = argparse.ArgumentParser(
        prog="course.py bench", description=f"{__doc__.splitlines()[0]}\n\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes: whether it runs, not how fast")
    options, rest = parser.parse_known_args(arguments)
    if unknown := sorted(set(options.names) - set(NAMES)):
        names = " ".join(NAMES)
        parser.error(f"There is no benchmark {unknown[0]}. Choose from: {names}")
    lesson.begin("benchmarks")
    for name in options.names or NAMES:
        print(f"\n=== {name} ===", flush=True)
        module = importlib.import_module(f"benchmarks.{name}")
        table = module.main([*rest, *["--quick"] * options.quick])
        print(text_of(table), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as error:
        sys.exit(f"course.py bench: {error}")
