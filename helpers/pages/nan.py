"""Interactive figure of lesson 13b: the origin of a NaN and its path."""

import numpy as np
import tensorflow as tf

from helpers import svg
from helpers.explore import Frame
from helpers.pages.boxes import boxes, edges

SIZE = (720, 350)
_GRADIENT = "gradients/"
_PLACES = {  # op: centre, and what it computes
    "h/ReadVariableOp": (90, 20, "w"), "x": (270, 20, "x"),
    "h": (180, 84, "h = x × w"), "log": (95, 148, "log h"),
    "xlogx": (180, 212, "h × log h"), "loss": (180, 276, "loss (mean)"),
    _GRADIENT + "loss_grad/truediv": (430, 330, "1 / numbers"),
    _GRADIENT + "xlogx_grad/Mul": (428, 116, "… × log h"),
    _GRADIENT + "xlogx_grad/Mul_1": (630, 290, "… × h"),
    _GRADIENT + "log_grad/Reciprocal": (545, 195, "1 / h"),
    _GRADIENT + "log_grad/mul": (625, 140, "… × h × 1/h"),
    _GRADIENT + "AddN": (520, 68, "sum of both"),
    _GRADIENT + "h_grad/Mul_1": (470, 20, "… × x"),
    _GRADIENT + "h_grad/Sum": (640, 20, "gradient of w"),
}
_SAME = {_GRADIENT + "xlogx_grad/tuple/control_dependency": "xlogx_grad/Mul",
         _GRADIENT + "xlogx_grad/tuple/control_dependency_1": "xlogx_grad/Mul_1"}


def nan_frame(session: tf.compat.v1.Session, step: int) -> Frame:
    """Draws all values of one training step and marks those that are not finite.

    Args:
      session: A session of the lesson's graph, in which the queue is running and the
        earlier steps have been run. The step that is drawn is a training step, too.
      step: The number of the step, for the sentence.

    Taught in lesson 13b, 'The way of the NaN'.
    """
    operation = session.graph.get_operation_by_name
    values = session.run({name: operation(name).outputs[0] for name in _PLACES}
                         | {"train": operation("train")})
    inputs = {name: [_named(tensor.op.name) for tensor in operation(name).inputs]
              for name in _PLACES}
    bad = {name for name in _PLACES if not np.isfinite(values[name]).all()}
    first = [name for name in _PLACES if name in bad and not bad & set(inputs[name])]
    places = {name: (x, y, "bad" if name in bad else "soft",
                     ("✗ " * (name in first)) + f"{words}  {_short(values[name])}")
              for name, (x, y, words) in _PLACES.items()}
    ways = [(a, b) for b in _PLACES for a in inputs[b] if a in _PLACES]
    wrong = [way for way in ways if way[0] in bad]
    words = ", ".join(_PLACES[name][2] for name in first)
    says = (f"In step {step}, x = {_short(values['x'])}, and "
            + (f"{len(bad)} of {len(_PLACES)} values are bad. Bad although the inputs "
               f"are good: {words}." if bad else "all values are good."))
    key = svg.text(10, 330, "✗ bad, although its inputs are good", "bad")
    return Frame([edges(places, [way for way in ways if way not in wrong])
                  + edges(places, wrong, 3, "bad") + boxes(places) + key * bool(bad)],
                 says)


def _named(name: str) -> str:
    return _GRADIENT + _SAME[name] if name in _SAME else name


def _short(value: np.ndarray) -> str:
    words = ["NaN" if np.isnan(v) else f"{v:.2g}".replace("inf", "∞").replace("-", "−")
             for v in np.ravel(value)]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"
