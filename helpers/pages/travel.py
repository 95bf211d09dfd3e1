"""Interactive figure of lesson 02a: the tensors that move between devices."""

from collections import Counter

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import svg, tracing
from helpers.explore import Frame

SIZE = (700, 190)
PLACES = ("0 and 0", "0 and 1", "1 and 1", "1 and 2")
_LEFT, _PITCH, _WIDE = 10, 240, 200  # of the devices


def crossings(uses: str, kind: str, read: str) -> list[tuple[str, str, str]]:
    """Returns the tensors that move between devices in two matrix products.

    Args:
      uses: CPUs of the two products, one of `PLACES`.
      kind: `"today's"` for a resource variable, `"TF1's"` for the older kind.
      read: With `"once"`, the value is read once, on the first CPU, and both products
        use it. Otherwise, each product uses the variable.

    Returns:
      A tuple (tensor, source, target) for each tensor that went to another device.

    Taught in lesson 02a, 'Variables here, ops there'.
    """
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            w = tf1.get_variable("w", [30, 30], use_resource=kind == "today's")
            value = tf.convert_to_tensor(w) if read == "once" else w
        products = []
        for place in uses.split(" and "):
            with tf.device(f"/cpu:{place}"):
                products.append(tf.reduce_sum(tf.matmul(value, value)).op)
        init = tf1.global_variables_initializer()
    config = tf1.ConfigProto(device_count={"CPU": 3, "GPU": 0})
    with tf1.Session(graph=graph, config=config) as session:
        session.run(init)
        return [(row.tensor, row.source, row.target)
                for row in tracing.transfers(session, products)]


def travel_frame(uses: str, kind: str, read: str) -> Frame:
    """Draws three devices with their ops and all transfers between them.

    The arguments are those of `crossings`.
    """
    moved = crossings(uses, kind, read)
    to = Counter(int(target[-1]) for _, _, target in moved)
    at = Counter(map(int, uses.split(" and ")))
    drawn = [_product(device, count) for device, count in at.items()]
    for device, count in to.items():
        drawn += [_arrow(device, k) for k in range(count)]
    twice = max(to.values(), default=0) > 1
    says = f"{len(moved)} crossing{'' if len(moved) == 1 else 's'}, "
    says += f"{3600 * len(moved):,} bytes"
    says += f": w goes {max(to.values())} times to one device." if twice else "."
    return Frame([_devices(), "".join(drawn)], says)


def _devices() -> str:
    boxes = [svg.box(_LEFT + _PITCH * k, 30, _WIDE, 100, "abc"[k], fill_opacity=0.15,
                     stroke="currentColor") + svg.text(
                         _LEFT + _PITCH * k, 22, f"CPU {k}", "abc"[k],
                         font_weight="bold") for k in range(3)]
    return "".join(boxes) + svg.box(
        _LEFT + 12, 44, 76, 26, "ink", rx=9, fill="none", stroke="currentColor",
        stroke_width=2.5) + svg.text(_LEFT + 50, 62, "w", text_anchor="middle")


def _product(device: int, count: int) -> str:
    x = _LEFT + _PITCH * device + 105
    return "".join(
        svg.box(x, 44 + 42 * k, 82, 26, "ink", fill="none", stroke="currentColor")
        + svg.text(x + 41, 62 + 42 * k, "w @ w", text_anchor="middle")
        for k in range(count))


def _arrow(device: int, k: int) -> str:
    y, end = 146 + 10 * k + 20 * (device - 1), _LEFT + _PITCH * device + 58 - 14 * k
    css = "abc"[device]
    return (svg.line([_LEFT + 50, _LEFT + 50, end, end], [70, y, y, 134], css)
            + svg.line([end - 4, end, end + 4], [140, 132, 140], css))
