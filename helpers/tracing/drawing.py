"""Draws a timeline with one lane per device and one bar per op."""

import matplotlib.pyplot as plt
import tensorflow.compat.v1 as tf1
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.language import RULE, fill
from helpers.tracing.times import Interval, intervals

# An interval, and its row in the lane of its device.
Lane = tuple[Interval, int]


def timeline(metadata: tf1.RunMetadata, *, labels: int = 12) -> Figure:
    """Draws a timeline of a traced run, with one lane per device.

    Ops that ran at the same time on one device are stacked inside its lane.

    Args:
      metadata: Metadata of a traced run.
      labels: Number of the longest ops that are labelled with their names.

    Returns:
      The figure, for `plots.show`.
    """
    rows = intervals(metadata)
    lanes, heights = _lanes(rows)
    # The size depends only on the devices, because tests compare sizes.
    fig, ax = plt.subplots(figsize=(8, 0.7 + 0.6 * len(heights)))
    _draw_lanes(ax, lanes, heights, labels)
    ax.set_xlabel("milliseconds since the first op")
    fig.tight_layout()
    return fig


def _lanes(rows: list[Interval]) -> tuple[list[Lane], dict[str, int]]:
    """Assigns each interval to the first free row in its device's lane."""
    lanes: list[Lane] = []
    ends: dict[str, list[int]] = {}
    for row in rows:
        free = ends.setdefault(row.device, [])
        place = next((i for i, end in enumerate(free) if end <= row.start), len(free))
        free[place:place + 1] = [row.start + row.duration]
        lanes.append((row, place))
    return lanes, {device: len(free) for device, free in ends.items()}


def _draw_lanes(
    ax: Axes, lanes: list[Lane], heights: dict[str, int], labels: int
) -> None:
    base, total = {}, 0
    for device in sorted(heights, reverse=True):
        base[device], total = total, total + heights[device]
        ax.axhline(total, color=RULE, linewidth=0.8)
    looks = {device: fill(k) for k, device in enumerate(sorted(heights))}
    span = max(row.start + row.duration for row, _ in lanes) / 1000
    longest = sorted(lanes, key=lambda lane: -lane[0].duration)[:labels]
    for row, place in lanes:
        ax.barh(base[row.device] + place + 0.5, max(row.duration / 1000, span / 800),
                left=row.start / 1000, height=0.8, linewidth=0.4,
                **looks[row.device])
    for row, place in longest:
        width = row.duration / 1000
        if width > span * 0.011 * len(row.op):
            ax.text(row.start / 1000 + width / 2, base[row.device] + place + 0.5,
                    row.op, ha="center", va="center", fontsize=8)
    ax.set_yticks([base[d] + heights[d] / 2 for d in base], list(base))
    ax.set_ylim(0, total)
    ax.set_xlim(0, span * 1.01)
    ax.tick_params(axis="y", length=0)
