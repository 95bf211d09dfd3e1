"""Figure of lesson 09a: the cost of each process failure in a cluster."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from helpers.language import LOST, TOWER, WIDE, fill
from helpers.plots import cross, lanes


def draw_deaths(
    begin: float, lives: Sequence[np.ndarray], other: np.ndarray,
    deaths: Mapping[str, tuple[float, int]],
) -> Figure:
    """Draws the global step over time and the activity of each process.

    Args:
      begin: Start time of the first process, in seconds of `time.time`.
      lives: Output of the chief between two restores, one array `[step, (step, time)]`
        each.
      other: Output of worker 1, in the same form.
      deaths: For `worker 1`, `chief`, and `ps`, in this order, the time of the kill and
        the step of the newest checkpoint at that time.

    Taught in lesson 09a, 'Kill a worker, the chief, and the parameter server'.
    """
    fig, (ax, below) = plt.subplots(2, 1, figsize=(WIDE, 4.6), sharex=True,
                                    height_ratios=[3, 1], layout="constrained")
    for life, k in [*((life, 0) for life in lives), (other, 1)]:
        ax.plot(life[:, 1] - begin, life[:, 0], ".", color=TOWER[k])
    at = {name: when - begin for name, (when, _) in deaths.items()}
    words = {"textcoords": "offset points", "color": LOST, "fontweight": "bold"}
    ax.annotate("worker 1 dies:\nthe chief continues", (at["worker 1"], other[-1, 0]),
                (-10, -6), ha="right", **words)
    for (name, (_, saved)), life, after in zip(
            list(deaths.items())[1:], lives[:-1], lives[1:], strict=True):
        back, last = after[0, 1] - begin, life[-1, 0]
        ax.fill_between([at[name], back], saved, last, **fill("lost"))
        ax.annotate(f"{name} dies: back to {saved},\n{last - saved:.0f} steps again",
                    (back, saved), (-4, -8), ha="right", va="top", **words)
    for name, step in zip(deaths, (other[-1, 0], *(life[-1, 0] for life in lives)),
                          strict=False):
        cross(ax, at[name], step)
    steps = [life[-1, 0] for life in lives]
    room = max(15.0, 0.6 * (max(steps) - other[0, 0]))
    ax.set(title="Only a failure of the chief or the parameter server loses completed "
           "steps (red)", ylabel="global step",
           ylim=(max(0, other[0, 0] - room), max(steps) + room / 4))
    begun = [life[0, 1] - begin for life in lives]
    end = lives[-1][-1, 1] - begin
    lanes(below, {
        "ps": [(0, at["ps"], "reference", "holds the weights"),
               (at["ps"], begun[2], "waits", "starts, is empty"),
               (begun[2], end, "reference", "")],
        "chief": [(0, begun[0], "waits", "starts"), (begun[0], at["chief"], 0, ""),
                  (at["chief"], begun[1], "waits", "starts"),
                  (begun[1], at["ps"], 0, ""), (at["ps"], begun[2], "waits", "waits"),
                  (begun[2], end, 0, "")],
        "worker 1": [(other[0, 1] - begin, at["worker 1"], 1, "")],
    }, kills=list(at.items()))
    return fig
