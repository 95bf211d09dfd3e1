"""Figures of lesson 15b: paths of weights, errors of batches, and falling rates."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from helpers.language import INK, LOST, PAPER, RULE, SOFT, TOWER

_RINGS = [0.05, 0.3, 1, 2, 4, 7, 11]  # loss above that of the exact solution
_EDGE = 0.9  # room around the paths, in units of a weight
_CLEAR = {"facecolor": PAPER, "edgecolor": "none", "pad": 1, "alpha": 0.8}
_SPAN = 20  # steps over which a distance is averaged


def weight_paths(
    paths: Mapping[str, np.ndarray], exact: np.ndarray, features: np.ndarray
) -> Figure:
    """Draws trainings as paths over two weights, and rings of equal loss.

    Args:
      paths: Weights and bias after each step, `[steps, 3]`, by the name of a training.
        The second training is drawn in red.
      exact: Weights and bias of the exact solution, `[3]`, which gets a cross.
      features: Features of the rows, `[rows, 2]`. A ring connects weights that have
        the same loss if the bias is the best one for them.

    Taught in lesson 15b, "One device: TF_GD_LinearRegression".
    """
    points = np.vstack([*(path[:, :2] for path in paths.values()), exact[:2]])
    (left, low), (right, high) = points.min(0) - _EDGE, points.max(0) + _EDGE
    w0, w1 = np.meshgrid(np.linspace(left, right, 90), np.linspace(low, high, 90))
    away = np.stack([w0 - exact[0], w1 - exact[1]], axis=-1)
    above = np.einsum("...i,ij,...j", away, np.cov(features.T), away)
    fig, ax = plt.subplots(figsize=(6.4, 5))
    ax.contour(w0, w1, above, levels=_RINGS, colors=RULE, linewidths=0.8)
    ax.plot(*exact[:2], "+", color=INK, markersize=22, markeredgewidth=1.2)
    for (name, path), color in zip(paths.items(), (TOWER[0], LOST, TOWER[1]),
                                   strict=True):
        ax.plot(*path[:, :2].T, ".-", color=color, linewidth=1.5, markersize=3)
        ax.plot(*path[-1, :2], "o", color=color)
        ax.annotate(name, tuple(path[-1, :2]), (8, -14), color=color, fontsize=9,
                    textcoords="offset points", ha="left", bbox=_CLEAR)
    ax.plot(*path[0, :2], "s", color=INK, markersize=5)
    ax.annotate("start", tuple(path[0, :2]), (-8, 2), fontsize=9, ha="right",
                textcoords="offset points", bbox=_CLEAR)
    ax.set(xlabel="w0", ylabel="w1", aspect="equal")
    return fig


def batch_errors(sizes: Sequence[int], errors: Sequence[float]) -> Figure:
    """Draws the error of a gradient against the size of its batch.

    Args:
      sizes: Numbers of examples. The first one is 1.
      errors: Squared error of the gradient for each size.

    Taught in lesson 15b, "Why batches".
    """
    fig, ax = plt.subplots(figsize=(5.6, 3.2))
    ax.loglog(sizes, errors[0] / np.array(sizes), "--", color=SOFT,
              label="error of one example, divided by the size")
    ax.loglog(sizes, errors, "o", color=TOWER[0], label="measured")
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set_yticks([10, 1, 0.1], ["10", "1", "0.1"])
    ax.minorticks_off()
    ax.set(xlabel="examples in a batch", ylabel="squared error of the gradient")
    ax.legend(loc="lower left")
    return fig


def falling_rates(
    stairs: np.ndarray, smooth: np.ndarray, distances: Mapping[str, np.ndarray]
) -> Figure:
    """Draws two falling rates, and how close trainings come to the solution.

    Args:
      stairs: Learning rate of each step that falls in drops, `[steps]`.
      smooth: Learning rate of each step that falls all the time, `[steps]`.
      distances: Distance of the weights from the exact solution after each step, by
        the name of the rate. The second one is drawn in blue, like the staircase. Thick
        lines are means over 20 steps.

    Taught in lesson 15b, "A rate that falls".
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.1), layout="constrained")
    left.plot(smooth, "--", color=TOWER[1], label="smooth")
    left.plot(stairs, color=TOWER[0], label="staircase")
    left.set(ylim=(0, 1.1 * stairs.max()), ylabel="learning rate")
    for (name, distance), color in zip(distances.items(), (SOFT, TOWER[0]),
                                       strict=True):
        mean = np.convolve(distance, np.full(_SPAN, 1 / _SPAN), mode="valid")
        right.semilogy(distance, color=color, linewidth=0.6, alpha=0.35)
        right.semilogy(np.arange(len(mean)) + _SPAN - 1, mean, color=color, label=name)
    right.set(ylabel="distance from the solution")
    right.set_yticks([1, 0.1, 0.01], ["1", "0.1", "0.01"])
    for ax in (left, right):
        ax.set_xlabel("step")
        ax.legend()
    return fig
