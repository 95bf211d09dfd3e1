"""Interactive figure of lesson 01a: the reuse modes that share weights."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import svg
from helpers.explore import Frame

SIZE = (660, 150)
MODES = {"False": False, "True": True, "AUTO_REUSE": tf1.AUTO_REUSE}
OPENED = ("by its name", "by its object", "inside itself")


def ask_twice(mode: str, name: str, opened: str) -> tuple[list[str], str, str]:
    """Requests a variable twice in one scope, under different reuse modes.

    Args:
      mode: Reuse mode of the scope when it is opened again, a key of `MODES`.
      name: Name of the second request. The first request asks for `weights`.
      opened: One of `OPENED`. With `"inside itself"`, the scope is opened by its name
        while it is still open.

    Returns:
      The names of all variables, the name that the second request returned, and the
      first sentence of its error. One of the last two is empty.

    Taught in lesson 01a, 'Four errors'.
    """
    with tf.Graph().as_default() as graph:
        with tf1.variable_scope("coder") as scope:
            tf1.get_variable("weights", [3, 3])
            got, error = ("", "") if opened != "inside itself" else (
                _asked("coder", mode, name))
        if opened != "inside itself":
            got, error = _asked(scope if opened == "by its object" else "coder",
                                mode, name)
        return [v.op.name for v in graph.get_collection("variables")], got, error


def _asked(scope, mode: str, name: str) -> tuple[str, str]:
    with tf1.variable_scope(scope, reuse=MODES[mode]):
        try:
            return tf1.get_variable(name, [3, 3]).op.name, ""
        except ValueError as error:
            return "", str(error).split(",")[0]


def reuse_frame(mode: str, name: str, opened: str) -> Frame:
    """Draws two requests for a variable, and the variable that each returned.

    The arguments are those of `ask_twice`.
    """
    shelf, got, error = ask_twice(mode, name, opened)
    new = len(shelf) > 1
    boxes = [_variable(k, name, "bad" if k else "a") for k, name in enumerate(shelf)]
    arrows = [_arrow(45, 45, "a")]
    if got:
        at = shelf.index(got)
        arrows.append(_arrow(115, 45 + 70 * at, "bad" if at else "a"))
    else:
        arrows.append(svg.text(240, 119, f"✗ {error}", "ink"))
    says = (f"ValueError: {error}." if error else
            f"Two variables: the second request created {got}, without an error."
            if new else "One variable, which both requests share.")
    return Frame([_requests("weights", 45), _requests(name, 115),
                  "".join(boxes + arrows)], says)


def _requests(name: str, y: float) -> str:
    order = "first" if y < 80 else "second"
    return svg.text(4, y - 4, f"{order} request", "soft") + svg.text(
        4, y + 14, name, "ink", font_family="monospace", font_weight="bold")


def _variable(k: int, name: str, css: str) -> str:
    y = 22 + 70 * k
    return svg.box(330, y, 320, 46, css, rx=14, fill="none", stroke="currentColor",
                   stroke_width=2.5) + svg.text(
        490, y + 28, name, "ink", text_anchor="middle", font_family="monospace")


def _arrow(start: float, end: float, css: str) -> str:
    head = svg.line([318, 328, 318], [end - 5, end, end + 5], css)
    return svg.line([130, 328], [start, end], css) + head
