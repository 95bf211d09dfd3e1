"""Interactive figure of lesson 13c: the memory that a step needs over time."""

from collections.abc import Sequence

from helpers import svg
from helpers.explore import Frame

SIZE = (720, 260)
_LEFT, _RIGHT, _TOP, _FLOOR, _MOST = 60, 700, 14, 216, 40


def memory_frame(held: Sequence[float], forward: int, what: str) -> Frame:
    """Draws the memory in use after each allocation and release, and its peak.

    Args:
      held: Memory in layer outputs, in the order of time.
      forward: How many of these values precede the backward pass.
      what: The setting, which begins the sentence.

    Taught in lesson 13c, 'Compute twice, keep less'.
    """
    peak, at = max(held), max(range(len(held)), key=held.__getitem__)
    where = "forward" if at < forward else "backward"
    xs = [_LEFT + (_RIGHT - _LEFT) * k / len(held) for k in range(len(held) + 1)]
    path = "".join(f"H{x:.0f}V{_y(value):.0f}" for x, value in zip(xs, held,
                                                               strict=False))
    middle = xs[forward]
    area = (f"<path class='a' fill='currentColor' fill-opacity='.3' "
            f"stroke='currentColor' d='M{_LEFT} {_FLOOR}{path}H{_RIGHT}V{_FLOOR}Z'/>")
    drawn = [area, svg.line([middle, middle], [_TOP, _FLOOR], "soft", 1,
                            stroke_dasharray="4 3"),
             svg.text(middle - 6, _FLOOR + 18, "forward pass", "soft",
                      text_anchor="end"),
             svg.text(middle + 6, _FLOOR + 18, "backward pass", "soft"),
             svg.line([_LEFT, _RIGHT], [_y(peak)] * 2, "ink", 1,
                      stroke_dasharray="3 2"),
             svg.text(_RIGHT, _y(peak) - 5, f"peak {peak:.1f}", "ink", font_size=16,
                      text_anchor="end", font_weight="bold")]
    return Frame([_axes(), "".join(drawn)],
                 f"{what}: the peak is {peak:.1f} layer outputs, in the {where} pass.")


def _y(value: float) -> float:
    return _FLOOR - (_FLOOR - _TOP) * value / _MOST


def _axes() -> str:
    return "".join(
        [svg.line([_LEFT, _RIGHT], [_FLOOR, _FLOOR], "soft", 1),
         svg.text(_RIGHT, _FLOOR + 36,
                  "allocations and releases of one step, in their order", "soft",
                  text_anchor="end"),
         svg.text(0, 0, "memory held (layer outputs)", "soft", text_anchor="middle",
                  transform=f"translate(16 {(_TOP + _FLOOR) // 2}) rotate(-90)")]
        + [svg.text(_LEFT - 8, _y(n) + 4, n, "soft", text_anchor="end")
           + svg.line([_LEFT, _RIGHT], [_y(n)] * 2, "soft", 0.3)
           for n in range(0, _MOST + 1, 8)])
