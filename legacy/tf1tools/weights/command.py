"""Converts the weights of a checkpoint or model to another file format.

    tf1 weights CHECKPOINT                      # lists the arrays
    tf1 weights CHECKPOINT --to npz             # or safetensors
    tf1 weights CHECKPOINT --to safetensors --layout torch
    tf1 weights CHECKPOINT --to onnx --chain "conv1 relu pool flatten fc"
    tf1 weights CHECKPOINT --to keras --chain ... --input 32,32,3

CHECKPOINT is the prefix of a checkpoint, a SavedModel, a frozen graph, or a Keras `.h5`
file. Optimizer slots, moving averages and step counters are recognised and left out.
With --averages, each average replaces its weight. With --all, nothing is left out.

--names FILE renames arrays. The file has a line `old,new` for each name that changes.
--layout torch converts names and axes to those of PyTorch: `conv1/kernel` `[height,
width, in, out]` becomes `conv1.weight` `[out, in, height, width]`. The rows of a dense
layer after a Flatten keep the order height, width, channels.

A Keras `.h5` file that contains its layers becomes a whole model with `--to keras`.
A checkpoint contains numbers but no graph, so `onnx` and `keras` need the layers in
order. The name of a layer in the file stands for a convolution (`conv1`, with stride 2:
`conv1:2`, without padding: `conv1:valid`), a dense layer, or a batch normalisation. The
other words are relu, pool (2 by 2; pool:same), dropout, flatten, and softmax. A VGG
network is recognised by its names. This command does not convert the graph of a whole
program; use tf2onnx for that.

Relative paths start at the current folder. A file is either written completely or not
at all. The exit code is 1 if the file cannot be read or converted.
"""

import argparse
import csv
import os
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from helpers.errors import DataError, first_line
from helpers.files import whole_file
from helpers.lesson import quiet_tensorflow
from tf1tools.arguments import Parser
from tf1tools.output import printable

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
          "moving_mean": "running_mean", "moving_variance": "running_var",
          "depthwise_kernel": "weight", "pointwise_kernel": "weight",
          "embeddings": "weight"}
# Kernels of dense layers and convolutions, by their number of axes.
_KERNELS = ("kernel", "weights", "w", "W", "weight", "pointwise_kernel")
_AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}
_EMBEDDINGS = ("embeddings", "embedding", "embedding_table")
# PyTorch stores the gates of a cell in another order and in two matrices, and an
# embedding or a transposed convolution in another order of axes.
_RECURRENT = re.compile(r"(lstm|gru|rnn)_?(cell)?|cell_\d+|transpose|deconv|embed",
                        re.I)


class Held(NamedTuple):
    """Role of an array in a checkpoint.

    Attributes:
      kind: "weight", "statistic", "average", "slot", "step" or "text".
      of: Name of the weight that an average or a slot belongs to, or "".
    """

    kind: str
    of: str = ""


def told_apart(arrays: Mapping[str, np.ndarray]) -> dict[str, Held]:
    """Classifies each array of a file as a weight, a slot, or another kind."""
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
    """Returns the name of the weight that a slot belongs to, or ""."""
    parts = name.split("/")
    names = ("/".join(parts[index:]) for index in range(len(parts)))
    return next((name for name in names if name in arrays), "")


def chosen(
    arrays: Mapping[str, np.ndarray], *, averages: bool = False, every: bool = False
) -> dict[str, np.ndarray]:
    """Returns the weights and statistics of a file by name.

    Args:
      arrays: Arrays by name, as returned by `read_weights`.
      averages: Whether to replace each weight with its moving average.
      every: Whether to include slots, averages and steps under their own names.

    Raises:
      DataError: If averages are requested but the file has none.
    """
    held = told_apart(arrays)
    found = {name.removesuffix(_OBJECT): arrays[name] for name, what in held.items()
             if what.kind in (WEIGHT, STATISTIC) or every and what.kind != TEXT}
    if averages:
        found.update(_averages(arrays, held))
    return found


def _averages(
    arrays: Mapping[str, np.ndarray], held: Mapping[str, Held]
) -> dict[str, np.ndarray]:
    """Returns the moving average of each weight, by the name of the weight.

    Raises:
      DataError: If there are no averages, or two of one weight.
    """
    found: dict[str, str] = {}
    for name, what in held.items():
        if what.kind != AVERAGE or not what.of:
            continue
        if what.of in found:
            raise DataError(
                f"{what.of} has two averages, {found[what.of]} and {name}. Omit "
                "--averages, and choose one of them with --all and --names.")
        found[what.of] = name
    if not found:
        raise DataError(
            "No averaged weights found. Run the command again without --averages."
        )
    return {owner: arrays[name] for owner, name in found.items()}


def renamed(arrays: Mapping[str, np.ndarray], table: Path) -> dict[str, np.ndarray]:
    """Renames arrays according to a table with lines `old,new`.

    Args:
      arrays: Arrays by name.
      table: Path of the table.

    Raises:
      DataError: If a line is not a pair, if a name does not exist, or if two arrays
        would get the same name.
    """
    new = {name: name for name in arrays}
    try:
        rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or error
        raise DataError(f"{table} cannot be read: {cause}.") from error
    for number, row in enumerate(rows, 1):
        if len(row) != 2 and row:
            raise DataError(
                f"Expected two names, as in `old,new`, in line {number} of {table}, "
                f"but got {len(row)}."
            )
        if row and row[0] not in new:
            raise DataError(
                f"Unknown weight {row[0]} in line {number} of {table}. Run tf1 weights "
                "without --to to list the names."
            )
        new.update([row] if row else [])
    return _under(arrays, new)


def as_torch(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Converts the names and the axes of arrays to PyTorch's conventions.

    The order of axes depends on the kind of the layer, which is inferred from the
    array's name and its number of axes. Vectors are the same for all kinds.

    Raises:
      DataError: If an array has several axes and the kind of its layer is unknown.
    """
    new, turned = {}, {}
    for name, array in arrays.items():
        *scope, last = name.split("/")
        new[name] = ".".join([*scope, _TORCH.get(last, last)])
        turned[name] = _turned(name, last, array) if array.ndim > 1 else array
    return _under(turned, new)


def _turned(name: str, last: str, array: np.ndarray) -> np.ndarray:
    """Transposes the array of a layer to PyTorch's order of axes."""
    if last == "depthwise_kernel" and array.ndim == 4:
        # [height, width, in, multiplier] to [in * multiplier, 1, height, width].
        high, wide, channels, multiplier = array.shape
        return array.reshape(high, wide, 1, channels * multiplier).transpose(3, 2, 0, 1)
    if last in _EMBEDDINGS and array.ndim == 2:
        return array  # one row per word, in both formats
    if last in _KERNELS and array.ndim in _AXES and not _RECURRENT.search(name):
        return array.transpose(_AXES[array.ndim])
    raise DataError(
        f"Cannot convert {name} for PyTorch: no known layer kind has an array of shape "
        f"{array.shape}. Use --names to give it a name ending in kernel, "
        "depthwise_kernel, or embeddings, or omit --layout torch.")


def _under(arrays: Mapping[str, np.ndarray], names: Mapping) -> dict[str, np.ndarray]:
    twice = sorted({n for n in names.values() if list(names.values()).count(n) > 1})
    if twice:
        raise DataError(
            f"Two arrays would be named {twice[0]}. Rename one of them with --names."
        )
    return {names[name]: array for name, array in arrays.items()}


def save_npz(arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Writes arrays to a `.npz` file, one after the other."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
        for name, array in tqdm(arrays.items(), "arrays", disable=None, leave=False):
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def save_safetensors(arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Writes arrays to a safetensors file."""
    from safetensors.numpy import save_file

    save_file({name: np.array(a, order="C") for name, a in arrays.items()}, str(path))


def write(
    arrays: Mapping[str, np.ndarray], form: str, path: Path, chain: str = "",
    size: tuple[int | None, ...] = (),
) -> None:
    """Writes weights atomically in one of the formats of `ENDINGS`.

    Args:
      arrays: Arrays by name, which contain the layers of the chain.
      form: Key of `ENDINGS`.
      path: Path of the new file. An older file is replaced once the new one is
        complete.
      chain: Layers in order, as described in the module. Only for onnx and keras.
      size: Size of one input, for Keras `(height, width, channels)`.

    Raises:
      DataError: If the chain does not match the weights, or if a package is missing.
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
        raise DataError(
            f"The option --to {form} requires the package {package}. Install it with: "
            f"pip install {package}"
        ) from error


def refuse_to_replace(out: Path, source: Path, names: Path | None = None) -> None:
    """Raises `DataError` if `out` would replace its source or an unrelated file.

    Args:
      out: File to write. It may replace an older file of the same kind.
      source: Path that `read_weights` read: a file, a folder, or the prefix of a
        checkpoint.
      names: Table of names, if there is one.
    """
    place, read = _place(out), _place(source)
    part = re.escape(read.name) + r"\.(index|meta|data-\d+-of-\d+)"
    if (place in (read, names and _place(names)) or place.is_relative_to(read)
            or place.parent == read.parent and re.fullmatch(part, place.name)):
        raise DataError(
            f"Refusing to overwrite {out}, which is part of the input. Choose another "
            "file with --out."
        )
    if place.exists() and place.suffix not in ENDINGS.values():
        kinds = ", ".join(ENDINGS.values())
        raise DataError(
            f"Refusing to overwrite {out}, a file of another kind. Choose a new file, "
            f"or one that ends in {kinds}."
        )


def _place(path: Path) -> Path:
    """Returns the absolute path, with all links resolved."""
    return Path(os.path.realpath(path))


def _as_others_know(array: np.ndarray) -> np.ndarray:
    """Converts bfloat16 arrays, which NumPy lacks, to float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def table(arrays: Mapping[str, np.ndarray]) -> str:
    """Returns a table of the arrays with kind, dtype, shape and name."""
    held = told_apart(arrays)
    lines = [f"{held[name].kind:9s} {array.dtype!s:8s} {array.shape!s:20s} "
             f"{printable(name)}" for name, array in arrays.items()]
    kinds = [what.kind for what in held.values()]
    counts = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(sorted(kinds))]
    return "\n".join([*lines, ", ".join(counts)])


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tf1 weights", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--to", choices=ENDINGS)
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="new file (default: the checkpoint's name, here)")
    parser.add_argument("--averages", action="store_true",
                        help="replace weights with their moving averages")
    parser.add_argument("--all", action="store_true", help="include slots and averages")
    parser.add_argument("--names", type=Path, metavar="FILE",
                        help="table of names with lines `old,new`")
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
        parser.error(
            "The option --layout torch is supported for npz and safetensors, but not "
            f"for {options.to}."
        )
    try:
        size = tuple(int(n) for n in filter(None, options.input.split(",")))
    except ValueError:
        parser.error(
            f"Invalid --input {options.input!r}. Expected whole numbers, such as "
            "224,224,3."
        )
    quiet_tensorflow()
    from helpers.inherited import read_weights

    try:
        if options.to == "keras" and not options.chain and _is_keras_model(
                options.checkpoint):
            return _write_model(options)
        arrays = read_weights(options.checkpoint)
        if not options.to:
            print(table(arrays))
            return 0
        found = chosen(arrays, averages=options.averages, every=options.all)
        if options.names:
            found = renamed(found, options.names)
        if options.layout == "torch":
            found = as_torch(found)
        if not found:
            raise DataError(
                f"{options.checkpoint} contains no weights. To write the optimizer's "
                "arrays, add --all."
            )
        out = options.out or Path(options.checkpoint.name + ENDINGS[options.to])
        refuse_to_replace(out, options.checkpoint, options.names)
        write(found, options.to, out, options.chain, size)
    except Exception as error:  # an unknown file may raise anything
        line = first_line(error)
        if not isinstance(error, DataError | OSError):
            kind = type(error).__name__
            line = f"{options.checkpoint} cannot be read ({kind}): {line}"
        named = filter(None, [options.checkpoint, options.out, options.names])
        if not any(str(path) in line for path in named):
            line = f"{options.checkpoint}: {line}"
        print(printable(f"tf1 weights: {line}"), file=sys.stderr)
        return 1
    left = len(arrays) - len(found)
    print(
        f"Wrote {len(found)} arrays to {printable(out)} ({out.stat().st_size:,} bytes) "
        f"and left out {left}."
    )
    return 0


def _is_keras_model(path: Path) -> bool:
    """Returns whether a file is a Keras `.h5` with its layers and not only weights."""
    from helpers.inherited import keras_files, kinds
    from helpers.reading import opened_hdf5

    if kinds.find(path).kind != kinds.KERAS:
        return False
    with opened_hdf5(path) as file:
        return bool(keras_files.config_of(file))


def _write_model(options: argparse.Namespace) -> int:
    """Writes the whole model of a Keras `.h5` as a `.keras` file; returns 0."""
    from helpers.inherited import keras_files
    from tf1tools.weights import networks

    if options.names or options.averages or options.all:
        raise DataError(
            "The options --names, --averages, and --all are not supported when "
            f"{options.checkpoint} is written as a complete model."
        )
    out = options.out or Path(options.checkpoint.name + ENDINGS["keras"])
    refuse_to_replace(out, options.checkpoint)
    model = keras_files.rebuilt(options.checkpoint)
    with whole_file(out) as temporary:
        networks.save_keras(networks.of_keras_3(model), temporary)
    print(
        f"Wrote a model with {len(model.layers)} layers to {out} "
        f"({out.stat().st_size:,} bytes)."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
