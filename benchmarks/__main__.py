"""Runs benchmarks by name; all of them without one.

python3 course.py bench [NAME ...] [--quick] [--output FOLDER] [OPTIONS OF ONE]
"""

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks import results
from helpers import lesson

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"

# What can be measured: its module here is called the same and has a `main`.
NAMES = {
    "towers": "four towers of VGG-19 beside stack-and-mean and MirroredStrategy",
    "pipeline": "reading records: our queue and dataset beside other ways to write it",
    "conversion": "folders of pictures to records, beside the document's loop",
    "lessons": "seconds, core seconds and memory of every lesson",
}


def main(arguments: list[str]) -> int:
    names = "\n".join(f"  {name:12s} {what}" for name, what in NAMES.items())
    parser = argparse.ArgumentParser(
        prog="course.py bench", description=f"{__doc__.splitlines()[0]}\n\n{names}",
        epilog="`course.py bench NAME --help` says what else that one takes.",
        formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-h", "--help", action="store_true", help="say this")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes: whether it runs, not how fast")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FOLDER",
                        help="for tables, plots and JSON; default benchmarks/results")
    options, rest = parser.parse_known_args(arguments)
    if options.help and not options.names:
        parser.print_help()
        return 0
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"there is no benchmark {unknown[0]}; there are {' '.join(NAMES)}")
    rest += ["--help"] * options.help + ["--quick"] * options.quick
    lesson.begin("benchmarks")
    for name in options.names or NAMES:
        run(name, rest, options.output)
    return 0


def run(name: str, arguments: list[str], folder: Path) -> None:
    """Runs one benchmark, and says where it wrote."""
    print(f"\n=== {name} ===", flush=True)
    facts = {**results.machine(), "options": " ".join(arguments)}
    tables = importlib.import_module(f"benchmarks.{name}").main(arguments)
    for table in tables:
        print(results.text_of(table), end="\n\n", flush=True)
    if not tables:
        return
    files = results.write(folder, name, tables, facts)
    shown = folder.relative_to(HERE.parent) if folder == RESULTS else folder
    print(f"in {shown}: {', '.join(file.name for file in files)}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nstopped")
    except RuntimeError as error:
        sys.exit(f"course.py bench: {error}")
