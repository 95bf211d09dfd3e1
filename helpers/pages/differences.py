"""Interactive figure of lesson 10b: the tensors at which two programs differ."""

from collections.abc import Mapping

from helpers import svg
from helpers.explore import Frame

SIZE = (790, 130)
_STAGES = {"same": ("both nets with", "the same weights", "the code"),
           "own": ("each net with", "its own", "the weights")}


def difference_frame(
    differences: Mapping[str, Mapping[str, float]], name: str | None, stage: str | None,
    tolerance: float = 1e-5,
) -> Frame:
    """Draws the relative difference of each tensor and marks the first fault.

    Args:
      differences: Relative differences by stage and tensor, as `first_difference`
        returns them.
      name: Name of the first tensor that differs, or `None`.
      stage: The run in which it differs, `"same"` or `"own"`, or `None`.
      tolerance: Relative difference above which a box has a red border.

    Taught in lesson 10b, 'Find the first difference'.
    """
    boxes = []
    for row, (run, tensors) in enumerate(differences.items()):
        for line, words in enumerate(_STAGES[run][:2]):
            boxes.append(svg.text(0, 64 * row + 16 * line + 32, words))
        boxes += [_tensor(110 * column + 130, 64 * row + 8, tensor, share, tolerance)
                  for column, (tensor, share) in enumerate(tensors.items())]
    return Frame(boxes, "No tensor differs." if stage is None else (
        f"The first difference is in {name}, because of {_STAGES[stage][2]}."))


def _tensor(x: float, y: float, name: str, share: float, tolerance: float) -> str:
    css, words = ("bad", f"{share:.1%}") if share > tolerance else ("soft", "equal")
    return (svg.box(x, y, 102, 48, css, fill="none", stroke="currentColor",
                    stroke_width=3 if css == "bad" else 1)
            + svg.text(x + 8, y + 20, name) + svg.text(x + 8, y + 38, words, css))
