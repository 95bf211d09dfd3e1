"""The weights of a file that somebody left, in a form that others read.

    tf1 weights CHECKPOINT                      # what it holds
    tf1 weights CHECKPOINT --to npz             # or safetensors
    tf1 weights CHECKPOINT --to safetensors --layout torch
    tf1 weights CHECKPOINT --to onnx --chain "conv1 relu pool flatten fc"
    tf1 weights CHECKPOINT --to keras --chain ... --input 32,32,3

CHECKPOINT is what `helpers.inherited.read_weights` reads: a checkpoint without ending,
a SavedModel, a frozen graph, a Keras `.h5`. Slots of optimizers, moving averages and
step counters are told apart from weights and are left out, but for --averages, which
puts each average in the place of its weight, and --all.

--names FILE renames: a line `old,new` for each name that changes. --layout torch turns
names and axes as PyTorch has them (`conv1/kernel` `[height, width, in, out]` becomes
`conv1.weight` `[out, in, height, width]`); the rows of a dense layer behind a Flatten
stay in the order height, width, channels.

A checkpoint holds numbers and no graph, so `onnx` and `keras` need the chain of layers
in order. A name of the file is its layer: a convolution (`conv1`, stride 2: `conv1:2`,
without padding: `conv1:valid`), a dense layer, or a batch norm. The other words are
relu, pool (2 by 2; pool:same), dropout, flatten, softmax. VGG is known by its names.
The graph of a whole program is nothing for this command: tf2onnx does that.

Paths count from where you stand. A file is written whole or not at all.
"""

import argparse
import csv
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from helpers.errors import DataError
from helpers.files import whole_file
from helpers.lesson import quiet_tensorflow

ENDINGS = {"npz": ".npz", "safetensors": ".safetensors", "keras": ".keras",
           "onnx": ".onnx"}
WEIGHT, STATISTIC = "weight", "statistic"
AVERAGE, SLOT, STEP, TEXT = "average", "slot", "step", "text"
_OBJECT = "/.ATTRIBUTES/VARIABLE_VALUE"
_AVERAGE = re.compile(r"/ExponentialMovingAverage(_\d+)?$")
_SLOT = re.compile(r"/(Momentum|RMSProp|Adagrad|Adadelta|AdagradDA|AdaMax|AdamW?|Ftrl|"
                   r"Nadam|LARS\w*|gradient_accumulator\w*)(_\d+)?$")
_POWERS = re.compile(r"(^|/)beta[12]_power(_\d+)?$")
_STEPS = re.compile(r"(^|/)(global_step|save_counter|iterations?)$")
_TORCH = {"kernel": "weight", "weights": "weight", "w": "weight", "gamma": "weight",
          "biases": "bias", "b": "bias", "beta": "bias",
          "moving_mean": "running_mean", "moving_variance": "running_var"}


class Held(NamedTuple):
    """One array of a file.

    Attributes:
      kind: weight, statistic, average, slot, step, or text.
      of: the name of the weight that an average or a slot belongs to; else "".
    """

    kind: str
    of: str = ""


def told_apart(arrays: Mapping[str, np.ndarray]) -> dict[str, Held]:
    """Returns what each array of a file is, by its name and those beside it."""
    return {name: _kind(name, arrays) for name in arrays}


def _kind(name: str, arrays: Mapping[str, np.ndarray]) -> Held:
    plain = name.removesuffix(_OBJECT)
    if arrays[name].dtype.kind not in "fiubcV":
        return Held(TEXT)
    if "/.OPTIMIZER_SLOT/" in name:
        return Held(SLOT, plain.partition("/.OPTIMIZER_SLOT/")[0])
    if _POWERS.search(plain) or re.match(r"(\w*optimizer)/", plain):
        return Held(SLOT)
    if _STEPS.search(plain):
        return Held(STEP)
    for pattern, kind in (_AVERAGE, AVERAGE), (_SLOT, SLOT):
        if found := pattern.search(plain):
            owner = _owner(plain[:found.start()], arrays)
            if owner or kind is AVERAGE:  # a weight may be called Adam
                return Held(kind, owner)
    if plain.endswith(("moving_mean", "moving_variance")):
        return Held(STATISTIC)
    return Held(WEIGHT)


def _owner(name: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Returns whose slot it is; a scope around the optimizer stands before the name."""
    parts = name.split("/")
    names = ("/".join(parts[index:]) for index in range(len(parts)))
    return next((name for name in names if name in arrays), "")


def chosen(
    arrays: Mapping[str, np.ndarray], *, averages: bool = False, every: bool = False
) -> dict[str, np.ndarray]:
    """Returns the weights and statistics of a file by their names.

    Args:
      arrays: as `read_weights` gives them.
      averages: takes each average for its weight.
      every: takes slots, averages and steps too, under names of their own.

    Raises:
      DataError: averages are asked for, and there are none.
    """
    held = told_apart(arrays)
    found = {name.removesuffix(_OBJECT): arrays[name] for name, what in held.items()
             if what.kind in (WEIGHT, STATISTIC) or every and what.kind != TEXT}
    of = {what.of: name for name, what in held.items()
          if what.kind == AVERAGE and what.of}
    if averages and not of:
        raise DataError("the file holds no averages: leave --averages out")
    if averages:
        found.update({owner: arrays[name] for owner, name in of.items()})
    return found


def renamed(arrays: Mapping[str, np.ndarray], table: Path) -> dict[str, np.ndarray]:
    """Returns the arrays under the names of a table with lines `old,new`.

    Raises:
      DataError: a line is no pair, a name is not there, or two become one.
    """
    new = {name: name for name in arrays}
    try:
        rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{table}: cannot be read: {error}") from error
    for number, row in enumerate(rows, 1):
        if len(row) != 2 and row:
            raise DataError(f"{table}, line {number}: wants `old,new`")
        if row and row[0] not in new:
            raise DataError(f"{table}, line {number}: {row[0]} is not among the "
                            f"weights; tf1 weights lists them")
        new.update([row] if row else [])
    return _under(arrays, new)


def as_torch(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the arrays with the names and the order of axes that PyTorch has."""
    new, turned = {}, {}
    for name, array in arrays.items():
        *scope, last = name.split("/")
        new[name] = ".".join([*scope, _TORCH.get(last, last)])
        axes = {4: (3, 2, 0, 1), 2: (1, 0)}.get(array.ndim)
        matrix = axes and last in ("kernel", "weights", "w", "depthwise_kernel")
        turned[name] = array.transpose(axes) if matrix else array
    return _under(turned, new)


def _under(arrays: Mapping[str, np.ndarray], names: Mapping) -> dict[str, np.ndarray]:
    twice = sorted({n for n in names.values() if list(names.values()).count(n) > 1})
    if twice:
        raise DataError(f"two arrays would be called {twice[0]}: give --names")
    return {names[name]: array for name, array in arrays.items()}


def save_npz(arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Writes arrays as `np.load` reads them, one after the other."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
        for name, array in tqdm(arrays.items(), "arrays", disable=None, leave=False):
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def save_safetensors(arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Writes arrays as `safetensors` reads them, in NumPy, PyTorch and others."""
    from safetensors.numpy import save_file

    save_file({name: np.array(a, order="C") for name, a in arrays.items()}, str(path))


def write(
    arrays: Mapping[str, np.ndarray], form: str, path: Path, chain: str = "",
    size: tuple[int | None, ...] = (),
) -> None:
    """Writes weights in one of the forms of `ENDINGS`, whole or not at all.

    Args:
      arrays: by name; a chain finds its layers among them.
      form: a key of `ENDINGS`.
      path: of the new file; an older one is replaced when the new one is whole.
      chain: layers in order, as the module says; for onnx and keras.
      size: of one input, for Keras `(height, width, channels)`.

    Raises:
      DataError: the chain does not fit the weights, or a package is missing.
    """
    plain = {name: _as_others_know(array) for name, array in arrays.items()}
    try:
        with whole_file(path) as temporary:
            if form == "npz":
                save_npz(plain, temporary)
            elif form == "safetensors":
                save_safetensors(plain, temporary)
            else:
                from tf1tools.weights import networks

                networks.write(plain, form, temporary, chain, size)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise DataError(f"--to {form} needs the package {package}: "
                        f"pip install {package}") from error


def _as_others_know(array: np.ndarray) -> np.ndarray:
    """Returns an array in a dtype of NumPy's own: bfloat16 becomes float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def table(arrays: Mapping[str, np.ndarray]) -> str:
    """Returns a line for each array: what it is, its shape, its name."""
    held = told_apart(arrays)
    lines = [f"{held[name].kind:9s} {array.dtype!s:8s} {array.shape!s:20s} {name}"
             for name, array in arrays.items()]
    kinds = [what.kind for what in held.values()]
    counts = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(sorted(kinds))]
    return "\n".join([*lines, ", ".join(counts)])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tf1 weights", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--to", choices=ENDINGS)
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="the new file; else the checkpoint's name in this folder")
    parser.add_argument("--averages", action="store_true",
                        help="averages in the place of their weights")
    parser.add_argument("--all", action="store_true", help="slots and averages too")
    parser.add_argument("--names", type=Path, metavar="FILE", help="lines `old,new`")
    parser.add_argument("--layout", choices=["tensorflow", "torch"],
                        default="tensorflow", help="names and order of axes")
    parser.add_argument("--chain", default="", metavar="LAYERS", help="layers in order")
    parser.add_argument("--input", default="", metavar="SIZE",
                        help="height,width,channels of one input; for keras")
    return parser


def main(arguments: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.layout == "torch" and options.to in ("keras", "onnx"):
        parser.error(f"--layout torch is for npz and safetensors, not {options.to}")
    try:
        size = tuple(int(n) for n in filter(None, options.input.split(",")))
    except ValueError:
        parser.error("--input wants numbers: 224,224,3")
    quiet_tensorflow()
    from helpers.inherited import read_weights

    try:
        arrays = read_weights(options.checkpoint)
        if not options.to:
            print(table(arrays))
            return 0
        found = chosen(arrays, averages=options.averages, every=options.all)
        if options.names:
            found = renamed(found, options.names)
        if options.layout == "torch":
            found = as_torch(found)
        out = options.out or Path(options.checkpoint.name + ENDINGS[options.to])
        write(found, options.to, out, options.chain, size)
    except (DataError, OSError) as error:
        print(f"tf1 weights: {error}", file=sys.stderr)
        return 1
    left = len(arrays) - len(found)
    print(f"{out}: {len(found)} arrays, {out.stat().st_size:,} bytes; {left} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
