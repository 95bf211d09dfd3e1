"""Interactive figure of lesson 04b: shuffle buffers and files sorted by class."""

import numpy as np
import tensorflow as tf

from helpers import svg
from helpers.explore import Frame

SIZE = (760, 350)
_CLASSES, _EACH, _BATCH = 20, 200, 32
_FAIR = _CLASSES * (1 - (1 - 1 / _CLASSES) ** _BATCH)
_LEFT, _TOP, _SQUARE, _FOOT = 60, 30, 5, 320
# From dark blue to yellow, similar to cividis, and ordered by lightness.
_PALETTE = np.stack([np.interp(np.linspace(0, 4, _CLASSES), range(5), channel)
                     for channel in ([0, 60, 124, 186, 253], [34, 78, 123, 173, 231],
                                     [78, 108, 120, 109, 55])], 1).astype(int).tolist()


def shuffle_frame(buffer: int, files: int) -> Frame:
    """Draws one epoch of class-sorted files that passed through a shuffle buffer.

    There are twenty files, with 200 records of one class each.

    Args:
      buffer: Size of the shuffle buffer in records.
      files: Number of files that are open at once. They take turns, one record each.

    Taught in lesson 04b, 'The class-sorted trap'.
    """
    data = tf.data.Dataset.range(_CLASSES).interleave(
        lambda label: tf.data.Dataset.from_tensors(label).repeat(_EACH),
        cycle_length=files)
    data = data.shuffle(buffer, seed=7).batch(_BATCH, drop_remainder=True)
    labels = np.array(list(data.as_numpy_iterator()))
    counts = [len(set(batch)) for batch in labels]
    right = _LEFT + _SQUARE * len(labels)
    bars = "".join(f"M{_LEFT + _SQUARE * k + 2.5} {_FOOT}v-{_SQUARE * n}"
                   for k, n in enumerate(counts))  # one path is smaller than boxes
    at = _FOOT - _SQUARE * _FAIR
    drawn = [f"<path class='a' d='{bars}' stroke='currentColor' stroke-width='4'/>",
             svg.line([_LEFT, right], [at, at], "soft", stroke_dasharray="6 4")
             + svg.text(right + 6, at + 4, "fair draw", "soft")]
    picture = svg.picture(_LEFT, _TOP, labels.T, _PALETTE, _SQUARE)
    return Frame([_axes(right), picture, *drawn],
                 f"{np.mean(counts):.1f} different classes in a batch of {_BATCH}; "
                 f"a fair draw has {_FAIR:.1f}.")


def _axes(right: float) -> str:
    end = {"text_anchor": "end"}
    return "".join([
        svg.text(_LEFT, 20, f"one epoch: each column is a batch of {_BATCH}, each "
                 "colour a class", "soft"),
        svg.text(0, 0, "classes in it", "soft", text_anchor="middle",
                 transform=f"translate(20 {_FOOT - 50}) rotate(-90)"),
        *(svg.text(_LEFT - 8, _FOOT - _SQUARE * n + 4, n, "soft", **end)
          for n in (0, 20)),
        svg.text(_LEFT, _FOOT + 20, "first batch", "soft"),
        svg.text(right, _FOOT + 20, "last batch", "soft", **end)])
