"""Recognises files of other programs, and says what reads them. None of them is run.

Used in lesson 11, where a file is described before it is opened.
"""

import io
import re
import struct
import zipfile
from pathlib import Path

import numpy as np

_TRUST = ("That runs whatever the file says, so do it in a container if the file is "
          "not yours.")
_PYTORCH = "a checkpoint of PyTorch. torch.load(path, weights_only=True) reads it."
_OLD_PYTORCH = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
_OBJECTS = ('np.load reads it with encoding="latin1" and allow_pickle=True; that runs '
            "whatever the file says, so do it in a container if the file is not yours.")
# Text files by what they begin with, apart from comments.
_TEXTS = (
    (r"item\s*\{", "a label map of the Object Detection API, which lists the numbers "
     "and names of classes. It contains no weights."),
    (r"model\s*\{(?s:.*)(train|eval)_(config|input_reader)\s*:?\s*\{",
     "a pipeline.config of the Object Detection API, which describes a training. It "
     "contains no weights. Look for model.ckpt or a saved_model folder beside it."),
    (r"\[net(work)?\]", "the configuration of a darknet network, which lists its "
     "layers. The weights are in a .weights file."),
)


def description(content: bytes) -> str:
    """Returns what a file is and what reads it, or "" if it is not recognised."""
    if content.startswith(b"PK\x03\x04"):
        return _archive(content)
    if content[4:8] == b"TFL3":
        return "a TFLite model. tf.lite.Interpreter runs it."
    if content.startswith(b"\x93NUMPY"):
        return _array(content)
    if content.startswith(_OLD_PYTORCH):
        return _PYTORCH
    if _is_pickle(content):
        return ('a pickle of Python. pickle.load(file, encoding="latin1") reads it. '
                + _TRUST)
    if _is_darknet(content):
        return ("the weights of a darknet network. They are float32 numbers without "
                "names, in the order of the layers in its .cfg file, behind a header "
                "of three int32 and a counter.")
    if content.lstrip()[:1] == b"{" and b'"class_name"' in content:
        return ("the output of a Keras model's to_json, with layers but no weights. "
                "Look for its .h5 file.")
    text = content[:100_000].decode("utf-8-sig", "ignore")
    text = re.sub(r"\A(?:\s*#.*\n)+", "", text).lstrip()
    return next((words for begins, words in _TEXTS if re.match(begins, text)), "")


def folder_description(folder: Path) -> str:
    """Returns what a folder of event files or of records is, or ""."""
    events = [*folder.glob("*tfevents*"), *folder.glob("*/*tfevents*")]
    if events:
        return (f"a folder of event files ({len(events)} of them). Run tensorboard "
                f"--logdir {folder}, or describe one of them, such as {min(events)}.")
    prefixes = sorted(file.with_suffix("").name for file in folder.glob("*.index"))
    if prefixes:
        return ("a folder of checkpoints without the file `checkpoint`. Pass the "
                f"prefix of one of them: {', '.join(prefixes[:4])}.")
    return ""


def _archive(content: bytes) -> str:
    """Returns what a zip archive is, by the names of its members."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile:
        return "a zip archive that is cut short. Download or copy it again."
    names = archive.namelist()
    arrays = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
    if arrays:
        first = archive.open(f"{arrays[0]}.npy").read(200)
        reads = _OBJECTS if _has_objects(first) else "np.load reads it."
        more = ", ..." if arrays[3:] else ""
        return (f"an archive of {len(arrays)} NumPy arrays ({', '.join(arrays[:3])}"
                f"{more}). {reads}")
    if any(name.endswith("data.pkl") for name in names):
        return _PYTORCH
    if "model.weights.h5" in names:
        return "a model of Keras 3. tf.keras.models.load_model(path) reads it."
    return f"a zip archive with {', '.join(names[:4]) or 'nothing in it'}. Unpack it."


def _array(content: bytes) -> str:
    if not _has_objects(content):
        return "an array of NumPy. np.load reads it."
    return ("an array of Python objects, as the published weights of VGG and AlexNet "
            f"are. {_OBJECTS} Then `.item()` is usually a dictionary of layers.")


def _has_objects(content: bytes) -> bool:
    """Returns whether the header of a .npy file names a dtype with Python objects."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = (np.lib.format.read_array_header_1_0 if version == (1, 0) else
                np.lib.format.read_array_header_2_0)
        return read(file)[2].hasobject
    except ValueError:
        return b"'|O" in content[:200]


def _is_pickle(content: bytes) -> bool:
    """Returns whether bytes look like a pickle, of Python 2's text form as well."""
    binary = content[:1] == b"\x80" and 2 <= content[1] <= 5
    text = re.match(rb"\(?[dl]p\d+\n|\(?c[\w.]+\n\w+\n", content)
    return content.rstrip()[-1:] == b"." and bool(binary or text)


def _is_darknet(content: bytes) -> bool:
    if len(content) < 24:
        return False
    major, minor, revision = struct.unpack("<3i", content[:12])
    counter = 8 if major * 10 + minor >= 2 else 4
    return (major == 0 and minor in (1, 2) and revision in range(6)
            and (len(content) - 12 - counter) % 4 == 0)
