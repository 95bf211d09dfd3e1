"""Interactive figure of lesson 09a: training loss with one or more workers."""

from collections.abc import Sequence

import numpy as np

from helpers import svg
from helpers.explore import Frame

SIZE = (720, 260)
_LEFT, _RIGHT, _TOP, _FLOOR = 60, 590, 12, 226
_LOW, _HIGH = -6, 4  # powers of ten that are drawn


def final_loss(losses: Sequence[float], workers: int) -> float:
    """Returns the largest loss among the last two updates of each worker.

    Stale gradients make the loss oscillate, so the very last loss would depend on the
    moment at which the training stops.

    Args:
      losses: Loss after each update.
      workers: Number of workers that took turns.
    """
    return float(np.nan_to_num(losses[-2 * workers:], nan=np.inf, posinf=np.inf).max())


def stale_frame(losses: Sequence[float], one: Sequence[float], workers: int,
                what: str) -> Frame:
    """Draws the loss of several asynchronous workers beside that of one worker.

    Both lines have the same width, so they show the same time.

    Args:
      losses: Loss after each update.
      one: Loss of a single worker after each of its updates.
      workers: Number of workers that took turns.
      what: Description of the setting, with which the caption begins.

    Taught in lesson 09a, 'Stale gradients'.
    """
    ends = [final_loss(losses, workers), final_loss(one, 1)]
    drawn = [_axes(len(losses))]
    if list(losses) != list(one):
        drawn.append(_line(one, "soft", 1.5, "one worker", stroke_dasharray="5 4"))
    drawn.append(_line(losses, "a", 2.5, f"loss {ends[0]:.1e}"))
    verdict = "" if list(losses) == list(one) else (
        f"; one worker {ends[1]:.1e}, so more workers are "
        + ("better" if ends[0] < ends[1] else "worse"))
    return Frame(drawn, f"{what}: final loss {ends[0]:.1e}{verdict}.")


def _y(loss: float) -> float:
    power = np.log10(np.clip(np.nan_to_num(loss, nan=np.inf), 10.0**_LOW, 10.0**_HIGH))
    return float(_FLOOR - (_FLOOR - _TOP) * (power - _LOW) / (_HIGH - _LOW))


def _line(losses: Sequence[float], css: str, width: float, words: str, **more) -> str:
    xs = np.linspace(_LEFT, _RIGHT, len(losses) + 1)[1:]
    end = _y(losses[-1])
    high = end + (16 if css == "soft" else 0)
    return svg.line(xs, [_y(loss) for loss in losses], css, width, **more) + svg.text(
        _RIGHT + 8, high + 4, words, css)


def _axes(updates: int) -> str:
    marks = "".join(
        svg.line([_LEFT, _RIGHT], [_y(10.0**power)] * 2, "soft", 0.4)
        + svg.text(_LEFT - 8, _y(10.0**power) + 4, f"1e{power}", "soft",
                   text_anchor="end") for power in range(_LOW, _HIGH + 1, 2))
    return marks + svg.text(_LEFT, _FLOOR + 20, "upwards: the loss", "soft") + svg.text(
        _RIGHT, _FLOOR + 20, f"the whole run, {updates} updates", "soft",
        text_anchor="end")
