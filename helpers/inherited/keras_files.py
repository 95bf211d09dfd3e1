"""Keras `.h5` files of unknown origin, rebuilt from an allowlist of classes.

Keras itself rebuilds everything that a file names, including functions and byte code.
Taught in lesson 11, "A Keras model of 2019".
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py

from helpers.errors import DataError
from helpers.inherited.allowed import Refusal, families
from helpers.reading import opened_hdf5

_LISTED, _ = families("keras.txt")
CLASSES = {name for family in ("models", "layers", "what belongs to a layer")
           for name in _LISTED[family]}
FUNCTIONS = CLASSES | set(_LISTED["functions that Keras looks up by name"])
_LOOKED_UP = ("activation", "initializer", "regularizer", "constraint")
_MODULES = {"keras", "keras.layers", "keras.initializers", "keras.regularizers",
            "keras.constraints", "keras.mixed_precision"}


def config_of(file: h5py.File) -> dict:
    """Returns the model configuration in a Keras HDF5 file; {} for weights only."""
    text = file.attrs.get("model_config")
    if text is None:
        return {}
    return json.loads(text.decode() if isinstance(text, bytes) else text)


def arrays_of(file: h5py.File) -> dict[str, h5py.Dataset]:
    """Returns the arrays in a Keras HDF5 file by name, without optimizer weights."""
    arrays = {}

    def note(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or item.shape is None:  # holds nothing
            return
        if "optimizer_weights" not in name:
            arrays[name.removeprefix("model_weights/")] = item

    file.visititems(note)
    return arrays


def layer_refusals(config: dict) -> Iterator[Refusal]:
    """Yields each class or function in a model configuration that is refused."""
    models = _LISTED["models"]
    if not isinstance(config, dict) or config.get("class_name") not in models:
        yield Refusal("model", str(config)[:40], "is not a model made of layers")
    yield from _refusals(config, "model")


def _refusals(value: Any, layer: str) -> Iterator[Refusal]:
    """Yields the refusals in a nested configuration, dictionary by dictionary."""
    if isinstance(value, list):
        for item in value:
            yield from _refusals(item, layer)
    if not isinstance(value, dict):
        return
    if "class_name" in value:
        inner = value.get("config")
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            layer = inner["name"]
        kind = value["class_name"]
        if not isinstance(kind, str) or kind not in CLASSES:
            yield Refusal(layer, str(kind), "is not on the list of classes")
    for key, item in value.items():
        if key == "module" and item not in _MODULES:
            yield Refusal(layer, str(item), "is the name of a module")
        elif key == "registered_name" and item is not None:
            yield Refusal(layer, str(item), "is a custom class")
        elif (isinstance(item, str) and key.endswith(_LOOKED_UP)
              and item not in FUNCTIONS):
            yield Refusal(layer, item, "is a function that is not on the list")
        yield from _refusals(item, layer)


def rebuilt(path: Path) -> Any:
    """Rebuilds a Keras 1 or 2 model from its configuration and its weights.

    Raises:
      DataError: If the file contains only weights, or names a class or function that is
        not on the allowlist.
    """
    with opened_hdf5(path) as file:
        config = config_of(file)
        if not config:
            raise DataError(
                f"{path} contains weights but no model. Build the model in code, and "
                "load the arrays returned by read_weights."
            )
        for name, kind, why in layer_refusals(config):
            raise DataError(
                f"Cannot rebuild layer '{name}' of {path}: {kind} {why}. Rewrite the "
                "layer and load its weights with read_weights, or open the file in a "
                "container."
            )
        import tf_keras  # Keras 3 rejects old configurations
        from tf_keras.src.saving.legacy import hdf5_format

        model = tf_keras.models.model_from_config(config)
        # Given a name, Keras would reopen the file as the kind of its extension.
        weights = file if "layer_names" in file.attrs else file["model_weights"]
        hdf5_format.load_weights_from_hdf5_group(weights, model)
        for layer in model.layers:
            layer.finalize_state()
    return model
