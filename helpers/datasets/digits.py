"""Handwritten digits: a small dataset that is bundled, or the full MNIST."""

from pathlib import Path

import numpy as np

from helpers.datasets.downloads import Download
from helpers.files import ROOT, data_folder, whole_or_absent

ARRAYS = ("x_train", "y_train", "x_test", "y_test")
BUNDLED = ROOT / "data" / "bundled" / "digits.csv.gz"
NUM_TRAIN = 1500  # of the 1,797 small digits; the rest are by other writers
ARCHIVE = Download(
    name="mnist.npz",
    urls=("https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",),
    size=11_490_434,
    digest="sha256:731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    offline='grab_mnist(source="bundled")',
)
_MAKER = "helpers.datasets.grab_mnist, version 1"


def grab_mnist(source: str = "bundled") -> Path:
    """Returns a folder with handwritten digits in four `.npy` files.

    Args:
      source: `"bundled"` uses the real 8x8 digits that come with the course, 1500 for
        training and 297 for testing, with no network. `"download"` downloads MNIST with
        28x28 pixels, 60,000 for training and 10,000 for testing (11 MB). A file
        `mnist.npz` that you put into `data/downloads/` is used as well.

    Returns:
      The folder `data/mnist-bundled` or `data/mnist-download`. It contains
      `x_train.npy` and `x_test.npy`, uint8 `[digit, height, width]` from 0 (paper) to
      255 (ink), and `y_train.npy` and `y_test.npy`, uint8 `[digit]`. Load them with
      `numpy.load`.

    Raises:
      ValueError: If there is no such source.
      DataError: If the file cannot be downloaded. The message gives the reason.
    """
    makers = {"bundled": _bundled, "download": _downloaded}
    if source not in makers:
        raise ValueError(
            f'Argument `source` must be "bundled" or "download", but got {source!r}.'
        )
    folder = data_folder() / f"mnist-{source}"
    with whole_or_absent(folder, made_by=_MAKER) as draft:
        if draft:
            arrays = makers[source]()
            for name in ARRAYS:
                np.save(draft / f"{name}.npy", arrays[name], allow_pickle=False)
    return folder


def _bundled() -> dict[str, np.ndarray]:
    digits = np.loadtxt(BUNDLED, delimiter=",")  # 64 values from 0 to 16, the label
    images = np.round(digits[:, :-1] * 255 / 16).astype(np.uint8).reshape(-1, 8, 8)
    labels = digits[:, -1].astype(np.uint8)
    return {"x_train": images[:NUM_TRAIN], "y_train": labels[:NUM_TRAIN],
            "x_test": images[NUM_TRAIN:], "y_test": labels[NUM_TRAIN:]}


def _downloaded() -> dict[str, np.ndarray]:
    file = ARCHIVE.fetch()  # verified by its hash
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in ARRAYS}
