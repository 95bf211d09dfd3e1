"""Interactive figure of lesson 05a: gradient steps of towers and their averages."""

import contourpy
import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import svg
from helpers.explore import Frame

SIZE = (720, 424)
_ROWS, _AT, _RATE = 480, np.array([1.2, 3.6], np.float32), 0.16
_WIDE, _HIGH, _SPAN = 430, 400, ((0.4, 5.4), (-0.2, 4.45))  # of the map: w0 and w1
_CONTOURS = np.array([0.2, 0.8, 1.8, 3.2, 5, 7.2, 9.8, 13, 17, 22])
_ORDERS = {"mixed": 40.0, "half sorted": 0.9, "sorted": 0.0}  # degree of mixing


def tower_frame(towers: int, slices: str, rows: str) -> Frame:
    """Draws the gradient steps of towers on slices of a batch, and their mean.

    Args:
      towers: Number of towers. Up to 4 have different colours.
      slices: `"equal"`, or `"first one small"`, which gives tower 0 only 24 rows.
      rows: `"mixed"`, `"half sorted"` or `"sorted"` by the first feature.

    Taught in lesson 05a, "Average them".
    """
    x, y = _data()
    order = np.argsort(x[:, 0] + _ORDERS[rows] * np.random.default_rng(1).normal(
        size=_ROWS))
    x, y = x[order], y[order]
    small = 0 if slices == "equal" else _ROWS // 20
    ends = np.linspace(small, _ROWS, towers + (not small)).astype(int)
    sizes = [small] * bool(small) + np.diff(ends).tolist()
    gradients, big = _gradients(x, y, sizes)
    plain, weighted = np.mean(gradients, 0), np.average(gradients, 0, weights=sizes)
    wrong = _off(plain, big)
    fan = "".join(_arrow(gradient, "abcd"[k % 4], 2)
                  for k, gradient in enumerate(gradients))
    spread = np.ptp(gradients, 0).max()
    words = "".join(svg.text(448, at, text) for at, text in [
        (190, f"rows per tower: {', '.join(map(str, sizes))}"),
        (214, f"spread of the gradients: {spread:.1f}"),
        (238, f"error of the plain mean: {wrong:.0%}")])
    return Frame(
        [_map(), fan, _arrow(big, "ink", 13, opacity=0.3) + _arrow(weighted, "ink", 3)
         + _arrow(plain, "soft", 3, stroke_dasharray="7 4"), words],
        f"The gradients of the towers have a spread of {spread:.1f}. Their plain mean "
        f"differs from the step of the big batch by {wrong:.0%}, and their weighted "
        f"mean by {_off(weighted, big):.0%}.")


def _off(step, due):
    """Returns the distance between two steps relative to the second."""
    return np.linalg.norm(step - due) / np.linalg.norm(due)


def _data() -> tuple[np.ndarray, np.ndarray]:
    """Returns regression data that no plane fits exactly, so that slices disagree."""
    random = np.random.default_rng(7)
    x = random.normal([1.0, 0.6], [1.0, 1.1], [_ROWS, 2]).astype(np.float32)
    noise = random.normal(0, 0.8, _ROWS)
    y = x @ np.array([3, 2], np.float32) + 0.55 * x[:, 0] ** 2 + noise
    return x, y.astype(np.float32)


def _loss(weights, x, y):
    return tf.reduce_mean(tf.square(tf.linalg.matvec(x, weights) - y))


def _gradients(x, y, sizes):
    """Returns the gradient of each tower on its slice, and of the whole batch."""
    with tf.Graph().as_default(), tf1.Session() as session:
        weights = tf1.get_variable("w", initializer=_AT)
        slices = zip(tf.split(x, sizes), tf.split(y, sizes), strict=True)
        losses = [_loss(weights, *pair) for pair in slices]
        session.run(weights.initializer)
        return session.run([[tf.gradients(loss, [weights])[0] for loss in losses],
                            tf.gradients(_loss(weights, x, y), [weights])[0]])


def _place(w):
    (left, right), (low, high) = _SPAN
    w = np.asarray(w)
    return ((w[..., 0] - left) / (right - left) * _WIDE,
            _HIGH - (w[..., 1] - low) / (high - low) * _HIGH)


def _arrow(gradient, css, width, opacity=1.0, **options):
    """Draws a descent step from the current weights as an arrow."""
    (x0, y0), (x1, y1) = _place(_AT), _place(_AT - _RATE * gradient)
    long, head = np.hypot(x1 - x0, y1 - y0), 6 + 1.8 * width
    turn = np.degrees(np.arctan2(y1 - y0, x1 - x0))
    shaft = svg.line([0, max(0, long - head)], [0, 0], css, width, **options)
    return (f"<g opacity='{opacity:g}' transform='translate({x0:.1f} {y0:.1f}) "
            f"rotate({turn:.1f})'>{shaft}<path class='{css}' fill='currentColor' d='M"
            f"{long:.1f} 0l-{head:.1f} {head / 2:.1f}v-{head:.1f}Z'/></g>")


def _map() -> str:
    """Draws the contours of the loss of the whole batch, and the legend."""
    x, y = _data()
    grid = np.stack(np.meshgrid(*(np.linspace(*span, 60) for span in _SPAN)), -1)
    apart = grid.reshape(-1, 2) @ x.T - y
    heights = np.mean(apart**2, 1).reshape(60, 60)
    contours = contourpy.contour_generator(grid[..., 0], grid[..., 1], heights)
    rings = "".join(
        svg.line(across, down, "soft", 1, stroke_opacity=0.6)
        for level in heights.min() + _CONTOURS for ring in contours.lines(level)
        for across, down in [_place(ring)])
    (xs, ys), (xn, yn) = _place(np.linalg.lstsq(x, y, rcond=None)[0]), _place(_AT)
    cross = (svg.line([xs - 7, xs + 7], [ys, ys], "ink")
             + svg.line([xs, xs], [ys - 7, ys + 7], "ink"))
    words: list[tuple[int, str, float, str, dict]] = [
        (30, "a", 2, "step of tower 0", {}), (48, "b", 2, "tower 1", {}),
        (66, "c", 2, "tower 2", {}), (84, "d", 2, "tower 3", {}),
        (104, "ink", 13, "step of the big batch", {"stroke_opacity": 0.3}),
        (126, "ink", 3, "weighted mean", {}),
        (148, "soft", 3, "plain mean", {"stroke_dasharray": "7 4"})]
    legend = "".join(svg.line([448, 482], [at, at], css, width, **options)
                     + svg.text(490, at + 4, text)
                     for at, css, width, text, options in words)
    return (rings + cross + svg.text(xs + 10, ys + 16, "lowest loss")
            + svg.box(0, 0, _WIDE, _HIGH, "soft", fill="none", stroke="currentColor")
            + svg.text(_WIDE / 2, _HIGH + 18, "w0", "soft", text_anchor="middle")
            + svg.text(_WIDE + 8, 14, "\u2190 w1", "soft")
            + f"<circle cx='{xn:.0f}' cy='{yn:.0f}' r='5'/>" + legend)
