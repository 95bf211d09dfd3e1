"""Builds Keras and ONNX models from a chain of layers and the weights of a file.

The syntax of a chain is described in `tf1 weights --help`. In both formats, pictures
are `[batch, height, width, channels]`, as in TensorFlow. Inside the ONNX model,
channels come first.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.errors import DataError
from helpers.vgg import CONFIGURATIONS

CONV, DENSE, NORM = "conv", "dense", "norm"
WORDS = ("relu", "pool", "dropout", "flatten", "softmax")
EPSILON = 1e-3  # of batch norm, in tf.layers, slim and Keras
_KERNELS, _BIASES = ("kernel", "weights", "w", "W"), ("bias", "biases", "b")


class Layer(NamedTuple):
    """Layer of a chain, with its options and weights.

    Attributes:
      kind: One of `WORDS`, or `CONV`, `DENSE`, `NORM`.
      name: Name of the layer in the file, or "" for a layer without weights.
      stride: Stride of a convolution, along both axes.
      same: Whether the edge is padded.
      arrays: Kernel and bias. For a batch normalisation: gamma, beta, mean and
        variance.
    """

    kind: str
    name: str = ""
    stride: int = 1
    same: bool = True
    arrays: tuple[np.ndarray, ...] = ()


def chain_of(arrays: Mapping[str, np.ndarray], chain: str) -> list[Layer]:
    """Parses a chain of layers and assigns the weights to them.

    Args:
      arrays: Weights by name.
      chain: Layers in order, or "" for a VGG network, which is recognised by its names.

    Raises:
      DataError: If a word is neither a layer nor a name in the file, if weights are
        left over, or if there is no chain and the file is not a VGG network.
    """
    words = chain.split() or _vgg(arrays)
    if not words:
        raise DataError(
            "A checkpoint contains arrays, but no graph. Name the layers in order, as "
            'in --chain "conv1 relu pool flatten scores". To convert a whole graph, '
            "use tf2onnx.")
    taken: set[str] = set()
    layers = [_layer(word, arrays, taken) for word in words]
    if left := sorted(set(arrays) - taken):
        names = left[0] + (f" and {len(left) - 1} more" if left[1:] else "")
        raise DataError(
            f"The chain does not include {names}. Name every layer of the file in "
            "--chain."
        )
    return layers


def _vgg(arrays: Mapping[str, np.ndarray]) -> list[str]:
    scopes = {name.rpartition("/")[0] for name in arrays}
    for blocks in CONFIGURATIONS.values():
        convolutions = [[f"conv{n}_{i}" for i in range(1, len(kernels) + 1)]
                        for n, kernels in enumerate(blocks, 1)]
        wanted = {name for block in convolutions for name in block}
        if wanted in (scopes, scopes - {"fc6", "fc7", "fc8"}):
            words = []
            for block in convolutions:
                words += [*(word for name in block for word in (name, "relu")), "pool"]
            top = ["flatten", "fc6", "relu", "fc7", "relu", "fc8"]
            return words + (top if "fc8" in scopes else [])
    return []


def _layer(word: str, arrays: Mapping[str, np.ndarray], taken: set[str]) -> Layer:
    name, *options = word.split(":")
    for option in options:
        if not re.fullmatch(r"[1-9]\d*|same|valid", option):
            raise DataError(
                f"Invalid option {option!r} in {word} of --chain. Expected a stride, "
                "`same`, or `valid`."
            )
    stride = next((int(option) for option in options if option.isdigit()), 1)
    if name in WORDS:
        return Layer(name, stride=stride, same="same" in options)
    same = "valid" not in options

    def take(*lasts: str) -> np.ndarray | None:
        for last in lasts:
            if (full := f"{name}/{last}") in arrays:
                taken.add(full)
                return arrays[full]
        return None

    kernel = take(*_KERNELS)
    if kernel is not None:
        bias = take(*_BIASES)
        kind = {4: CONV, 2: DENSE}.get(kernel.ndim)
        if kind is None:
            raise DataError(
                f"Cannot convert {name}: its kernel has {kernel.ndim} axes, so it is "
                "neither a convolution nor a dense layer."
            )
        bias = np.zeros(kernel.shape[-1], kernel.dtype) if bias is None else bias
        return Layer(kind, name, stride, same, (kernel, bias))
    mean, variance = take("moving_mean"), take("moving_variance")
    if mean is None or variance is None:
        words = ", ".join(WORDS)
        raise DataError(
            f"Unknown layer {word!r} in --chain. Expected a layer of the file, or one "
            f"of {words}."
        )
    gamma, beta = take("gamma"), take("beta")
    gamma = np.ones_like(mean) if gamma is None else gamma
    beta = np.zeros_like(mean) if beta is None else beta
    return Layer(NORM, name, arrays=(gamma, beta, mean, variance))


def write(arrays: Mapping[str, np.ndarray], form: str, path: Path, chain: str,
          size: tuple[int | None, ...]) -> None:
    """Writes a chain of layers as an ONNX or a Keras model."""
    layers = chain_of(arrays, chain)
    if form == "onnx":
        path.write_bytes(onnx_model(layers).SerializeToString())
    else:
        save_keras(keras_model(layers, size), path)


def of_keras_3(model):
    """Returns a model of Keras 2 as a model of Keras 3, which reads its files."""
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.h5"
        model.save(str(path))
        return tf.keras.models.load_model(path, compile=False)


def save_keras(model, path: Path) -> None:
    """Writes a Keras model under a name of any suffix."""
    whole = path.with_name(path.name + ".keras")  # Keras requires this suffix
    try:
        model.save(whole)
        whole.replace(path)
    finally:
        whole.unlink(missing_ok=True)


def keras_model(layers: list[Layer], size: tuple[int | None, ...]):
    """Builds a Keras model from a chain of layers.

    Args:
      layers: Layers as returned by `chain_of`.
      size: Size of one input. By default, that of a first dense layer, or pictures of
        any height and width if nothing is flattened.

    Raises:
      DataError: If the size is needed but not given, or if the weights do not fit it.
    """
    import tensorflow as tf

    build = tf.keras.layers
    first = next(layer for layer in layers if layer.arrays).arrays[0]
    if not size and any(layer.kind == "flatten" for layer in layers):
        raise DataError(
            "A network with Flatten requires an input size, as in --input 224,224,3."
        )
    size = size or ((first.shape[0],) if first.ndim == 2 else
                    (None, None, first.shape[2]))
    model = tf.keras.Sequential([tf.keras.Input(size)])
    for layer in layers:
        edge = "same" if layer.same else "valid"
        name = layer.name.replace("/", "_") or None
        if layer.kind == CONV:
            height, width, _, channels = layer.arrays[0].shape
            new = build.Conv2D(channels, (height, width), layer.stride, edge, name=name)
        elif layer.kind == DENSE:
            new = build.Dense(layer.arrays[0].shape[1], name=name)
        elif layer.kind == NORM:
            new = build.BatchNormalization(epsilon=EPSILON, name=name)
        elif layer.kind == "pool":
            new = build.MaxPooling2D(2, 2, edge)
        else:
            new = {"relu": build.ReLU, "flatten": build.Flatten, "softmax":
                   build.Softmax, "dropout": lambda: build.Dropout(0.5)}[layer.kind]()
        try:
            model.add(new)
            if layer.arrays:
                new.set_weights(layer.arrays)
        except ValueError as error:
            cause = str(error).splitlines()[0]
            raise DataError(
                f"Layer {layer.name or layer.kind} does not accept an input of size "
                f"{size} ({cause}). Correct --chain or --input."
            ) from error
    return model


def onnx_model(layers: list[Layer]):
    """Builds an ONNX model from a chain of layers and validates it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    first = next(layer for layer in layers if layer.arrays).arrays[0]
    flat = first.ndim == 2 and "flatten" not in [layer.kind for layer in layers]
    last = next(layer for layer in layers[::-1] if layer.arrays).arrays[0].shape[-1]
    place = ["batch"] if flat else ["batch", "height", "width"]
    ends = ["batch"] if "flatten" in [layer.kind for layer in layers] else place
    width = first.shape[-2 if first.ndim > 1 else 0]
    nodes, tensors, now = [], [], "input"
    for number, (op, arrays, options) in enumerate(_onnx_ops(layers, not flat)):
        name = f"{op}_{number}"
        extra = [f"{name}_{index}" for index in range(len(arrays))]
        tensors += [numpy_helper.from_array(np.ascontiguousarray(array), label)
                    for array, label in zip(arrays, extra, strict=True)]
        nodes.append(helper.make_node(op, [now, *extra], [name], name, **options))
        now = name
    nodes.append(helper.make_node("Identity", [now], ["output"], "end"))
    graph = helper.make_graph(
        nodes, "chain",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [*place, width])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [*ends, last])],
        tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                              ir_version=8, producer_name="tf1 weights")
    onnx.checker.check_model(model)
    return model


def _onnx_ops(layers: list[Layer], pictures: bool) -> Iterator[tuple[str, list, dict]]:
    """Yields the ONNX ops of a chain as `(op, constants, attributes)`."""
    if pictures:
        yield "Transpose", [], {"perm": [0, 3, 1, 2]}
    for layer in layers:
        arrays = [array.astype(np.float32) for array in layer.arrays]
        edge = "SAME_UPPER" if layer.same else "VALID"
        if layer.kind == CONV:
            yield "Conv", [arrays[0].transpose(3, 2, 0, 1), arrays[1]], {
                "auto_pad": edge, "strides": [layer.stride] * 2,
                "kernel_shape": list(arrays[0].shape[:2])}
        elif layer.kind == DENSE:
            yield "Gemm", arrays, {}
        elif layer.kind == NORM:
            yield "BatchNormalization", arrays, {"epsilon": EPSILON}
        elif layer.kind == "pool":
            yield "MaxPool", [], {"auto_pad": edge, "strides": [2, 2],
                                  "kernel_shape": [2, 2]}
        elif layer.kind == "flatten":
            yield "Transpose", [], {"perm": [0, 2, 3, 1]}  # TensorFlow's order of rows
            yield "Flatten", [], {"axis": 1}
            pictures = False
        elif layer.kind == "relu":
            yield "Relu", [], {}
        elif layer.kind == "softmax":
            yield "Softmax", [], {"axis": 1 if pictures else -1}
    if pictures:
        yield "Transpose", [], {"perm": [0, 2, 3, 1]}
