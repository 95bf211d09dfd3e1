"""Loads and saves VGG weights in the format that Keras publishes.

Taught in lesson 06c, 'Weights from Keras'.
"""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.datasets.downloads import Download
from helpers.errors import DataError
from helpers.files import data_folder, whole_file
from helpers.inherited import keras_files
from helpers.inherited.kinds import in_one_line
from helpers.reading import opened_hdf5
from helpers.vgg import CONFIGURATIONS, vgg_features, vgg_net

_STORE = "https://storage.googleapis.com/tensorflow/keras-applications/"
# By configuration, and whether the three fully connected layers are included. A test
# compares names, addresses, and hashes with the installed Keras. Keras publishes MD5
# hashes, which detect damage, but not a deliberate forgery.
WEIGHTS = {
    (configuration, top): Download(
        name=name,
        urls=(f"{_STORE}{name.split('_')[0]}/{name}",),
        size=size,
        digest=f"md5:{digest}",
        offline='grab_vgg_weights("random")',
    )
    for configuration, top, name, size, digest in (
        ("D", True, "vgg16_weights_tf_dim_ordering_tf_kernels.h5",
         553_467_096, "64373286793e3c8b2b4e3219cbf3544b"),
        ("D", False, "vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5",
         58_889_256, "6d6bbae143d832006294945121d1f1fc"),
        ("E", True, "vgg19_weights_tf_dim_ordering_tf_kernels.h5",
         574_710_816, "cbe5617147190e668d6c5d5026f83318"),
        ("E", False, "vgg19_weights_tf_dim_ordering_tf_kernels_notop.h5",
         80_134_624, "253f8cb515780f3b799900260a226db6"),
    )
}
RANDOM_WIDTH = 8  # base width of the net with random weights
_TOP = {"fc6": "fc1", "fc7": "fc2", "fc8": "predictions"}
_PARTS = ("kernel", "bias")  # the order in which Keras lists a layer's weights


def grab_vgg_weights(
    source: str | os.PathLike = "random", *, configuration: str = "D", top: bool = True
) -> Path:
    """Returns the path of VGG weights in Keras's HDF5 format.

    Args:
      source: `"random"` writes random weights of base width 8, with no network. They
        test the procedure at little cost. `"download"` downloads the weights that were
        trained on ImageNet (59 to 575 MB). Otherwise, the path of a folder, such as
        `~/.keras/models`, that contains Keras's files under their original names.
      configuration: `"D"` for VGG-16, or `"E"` for VGG-19.
      top: Whether to include the fully connected layers, which need pictures of 224 x
        224.

    Raises:
      ValueError: If Keras does not publish this configuration.
      DataError: If the file cannot be downloaded or has a different hash. The message
        names it.
    """
    if (configuration, top) not in WEIGHTS:
        raise ValueError(
            f"Unknown configuration {configuration!r}. Keras publishes weights only "
            "for 'D' (VGG-16) and 'E' (VGG-19)."
        )
    wanted = WEIGHTS[configuration, top]
    if source != "random":
        return wanted.found_in(source)
    path = data_folder() / "vgg-random" / wanted.name
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.set_random_seed(7)
        images = tf1.placeholder(tf.float32, [None, 224, 224, 3])
        build: Any = vgg_net if top else vgg_features
        build(images, configuration=configuration, base_width=RANDOM_WIDTH)
        session.run(tf1.global_variables_initializer())
        save_vgg_weights(session, path)
    return path


def vgg_sizes(path: str | os.PathLike) -> dict[str, Any]:
    """Returns the arguments of `vgg_net` that match a file of weights.

    For a file without the fully connected layers, the arguments are those of
    `vgg_features`.

    Args:
      path: HDF5 file in Keras's format.

    Returns:
      A dictionary with `configuration` and `base_width` and, if the file contains the
      fully connected layers, `num_classes`.

    Raises:
      DataError: If the file is not in this format, or not of a VGG network. The message
        names it.
    """
    with _opened(path) as held:
        return _sizes(held)


def load_vgg_weights(
    session: tf1.Session, path: str | os.PathLike,
    var_list: Sequence[tf.Variable] | None = None,
) -> list[str]:
    """Loads the variables from a weights file, or none of them on an error.

    Args:
      session: Session of the graph with the variables.
      path: HDF5 file in Keras's format, such as `grab_vgg_weights` returns.
      var_list: Variables to load, named as in `vgg_net`. Default: all trainable ones.

    Returns:
      The names of the loaded variables, as in `vgg_net`. The file may contain other
      layers, which are ignored.

    Raises:
      DataError: If the file is damaged or belongs to another network. The message names
        the file and the fix.
    """
    wanted = _by_name(session, var_list)
    with _opened(path) as held:
        _check_net(path, wanted, held)
        values = {name: np.asarray(held[name]) for name in wanted}
    for name, variable in wanted.items():
        assign = variable.initializer  # fed, so that no op is added to the graph
        session.run(assign, {assign.inputs[1]: values[name]})
    return list(wanted)


def save_vgg_weights(session: tf1.Session, path: str | os.PathLike) -> None:
    """Saves the VGG variables in a file that Keras's `load_weights` reads.

    Args:
      session: Session of the graph with the variables.
      path: Path of the `.h5` file, which appears only when it is complete.
    """
    wanted = _by_name(session)
    layers = list(dict.fromkeys(name.split("/")[0] for name in wanted))
    with whole_file(path) as temporary, h5py.File(temporary, "w") as file:
        file.attrs["layer_names"] = [_theirs(layer).encode() for layer in layers]
        for layer in layers:
            theirs = _theirs(layer)
            names = [f"{theirs}/{part}:0" for part in _PARTS]
            group = file.create_group(theirs)
            group.attrs["weight_names"] = [name.encode() for name in names]
            for name, part in zip(names, _PARTS, strict=True):
                group[name] = session.run(wanted[f"{layer}/{part}"])


def _theirs(layer: str) -> str:
    """Converts a layer name such as `conv1_2` to Keras's `block1_conv2`."""
    return _TOP.get(layer) or re.sub(r"^conv(\d)_(\d)$", r"block\1_conv\2", layer)


def _by_name(
    session: tf1.Session, var_list: Sequence[tf.Variable] | None = None
) -> dict[str, tf.Variable]:
    """Returns the given variables by name, or all trainable ones by default."""
    if var_list is None:
        with session.graph.as_default():
            var_list = tf1.trainable_variables()
    return {variable.op.name: variable for variable in var_list}


@contextlib.contextmanager
def _opened(path: str | os.PathLike) -> Iterator[dict[str, h5py.Dataset]]:
    """Yields the arrays of a weights file by the names of `vgg_net`.

    A kernel is distinguished from a bias by its number of axes. Any error is converted
    to one line.
    """
    not_whole = ("is not a complete file of weights in Keras's format (download it "
                 "again, because grab_vgg_weights checks its hash)")
    with in_one_line(Path(path), not_whole), opened_hdf5(path) as file:
        arrays = keras_files.arrays_of(file).items()
        yield {f"{_ours(name.split('/')[0])}/{_PARTS[array.ndim == 1]}": array
               for name, array in arrays}


def _ours(layer: str) -> str:
    """Converts a Keras layer name such as `block1_conv2` to `conv1_2`."""
    tops = {theirs: ours for ours, theirs in _TOP.items()}
    return tops.get(layer) or re.sub(r"^block(\d)_conv(\d)$", r"conv\1_\2", layer)


def _sizes(held: Mapping[str, h5py.Dataset]) -> dict[str, Any]:
    sizes: dict[str, Any] = {"configuration": _configuration(held)}
    sizes["base_width"] = held["conv1_1/bias"].shape[0]
    if "fc8/bias" in held:
        sizes["num_classes"] = held["fc8/bias"].shape[0]
    return sizes


def _configuration(held: Mapping[str, h5py.Dataset]) -> str:
    """Returns the letter of the VGG configuration in a file of weights."""
    blocks = tuple(_kernel_sizes(held, block) for block in range(1, 6))
    for letter, sizes in CONFIGURATIONS.items():
        if blocks == sizes:
            return letter
    raise ValueError(
        "The weights do not match any VGG configuration. The first arrays are "
        f"{sorted(held)[:3]}."
    )


def _kernel_sizes(held, block: int) -> tuple[int, ...]:
    return tuple(array.shape[0] for name, array in held.items()
                 if re.match(rf"conv{block}_\d/kernel", name))


def _check_net(path, wanted: Mapping[str, tf.Variable], held) -> None:
    """Raises `DataError` unless the weights fit the shapes of the variables."""
    blocks = {name[:5] for name in wanted if name.startswith("conv")}
    layers = {name.split("/")[0] for name in wanted}
    there = {name: list(array.shape) for name, array in held.items()
             if name in wanted
             or (name[:5] in blocks and name.split("/")[0] not in layers)}
    here = {name: variable.shape.as_list() for name, variable in wanted.items()}
    for name in {**here, **there}:
        if there.get(name) != here.get(name):
            saved, built = (f"of shape {shapes[name]}" if name in shapes else "missing"
                            for shapes in (there, here))
            raise DataError(
                f"{name} is {saved} in {path}, but {built} in the graph. Build the net "
                "with **vgg_sizes(path) at 224 x 224, or remove this layer from "
                "var_list."
            )
