"""Interactive figure of lesson 14: one loop in its old and its new form."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import svg
from helpers.explore import Frame
from helpers.pages.boxes import bold, boxes, edges, pointer

SIZE = (720, 430)
_OLD = {  # op of the old loop: its centre, its colour, what it does
    "while/Enter": (190, 24, "a", "Enter  k = 0"),
    "while/Less/Enter": (350, 24, "soft", "Enter  n"),
    "while/Enter_1": (510, 24, "b", "Enter  p = 1"),
    "while/Merge": (190, 100, "a", "Merge"),
    "while/Merge_1": (510, 100, "b", "Merge"),
    "while/Less": (350, 144, "ink", "Less  k < n"),
    "while/LoopCond": (350, 196, "ink", "LoopCond"),
    "while/Switch": (190, 250, "a", "Switch"),
    "while/Switch_1": (510, 250, "b", "Switch"),
    "while/add": (190, 330, "a", "AddV2  k + 1"),
    "while/mul": (510, 330, "b", "Mul  p × x"),
    "while/mul/Enter": (350, 330, "soft", "Enter  x"),
    "while/NextIteration": (190, 400, "a", "NextIteration"),
    "while/NextIteration_1": (510, 400, "b", "NextIteration"),
    "while/Exit": (54, 300, "a", "Exit"),
    "while/Exit_1": (656, 300, "b", "Exit"),
}
_PASSED_ON = {"while/Identity": "while/Switch", "while/Identity_1": "while/Switch_1"}
_NEW = {  # the same for today's loop; `cond` and `body` are its two functions
    "k": (215, 24, "a", "k = 0"), "p": (305, 24, "b", "p = 1"),
    "n": (395, 24, "soft", "n"), "x": (485, 24, "soft", "x"),
    "While": (350, 96, "ink", "While    cond = ●    body = ●"),
    "cond/k": (150, 206, "a", "k"), "cond/Less": (370, 206, "ink", "Less  k < n"),
    "cond/n": (370, 246, "soft", "n"), "cond/answer": (560, 206, "ink", "?"),
    "body/k": (150, 314, "a", "k"), "body/add": (370, 314, "a", "AddV2  k + 1"),
    "body/k next": (560, 314, "a", "k"),
    "body/p": (150, 364, "b", "p"), "body/mul": (370, 364, "b", "Mul  p × x"),
    "body/x": (370, 406, "soft", "x"), "body/p next": (560, 364, "b", "p"),
}
_NEW_EDGES = [("k", "While"), ("p", "While"), ("n", "While"), ("x", "While"),
              ("cond/k", "cond/Less"), ("cond/n", "cond/Less"),
              ("cond/Less", "cond/answer"),
              ("body/k", "body/add"), ("body/add", "body/k next"),
              ("body/p", "body/mul"), ("body/x", "body/mul"),
              ("body/mul", "body/p next")]


def loop_frame(loop: str, turn: int, n: int = 4, x: float = 3.0) -> Frame:
    """Draws one iteration of a loop with its values, in the old or the new form.

    Args:
      loop: `"TensorFlow 1"` for a loop that is spread over the graph, or `"today"` for
        one op with two functions.
      turn: The number of the turn, from 0 to `n`. In turn `n`, the loop ends.
      n: The number of times that the body runs.
      x: The factor.

    Taught in lesson 14, 'The loop of an old graph'.
    """
    old = loop == "TensorFlow 1"
    graph = _graph(old)
    with tf1.Session(graph=graph) as session:  # stops after `turn` iterations
        k, p, goes_on = session.run(["k_out:0", "p_out:0", "asked:0"],
                                    {"x:0": x, "n:0": min(turn, n), "limit:0": n})
    value = {"k": f"k = {k}", "p": f"p = {p:g}", "asked": str(bool(goes_on))}
    says = (f"In turn {turn}, k is {k} and p is {p:g}. Because k < {n} is {goes_on}, "
            + ("the body runs once more." if goes_on else "both leave the loop."))
    if old:
        ops = {node.name: node for node in graph.as_graph_def().node}
        pairs = [(_PASSED_ON.get(_op(name), _op(name)), node.name)
                 for node in ops.values() if node.name in _OLD for name in node.input]
        pairs = [pair for pair in pairs if pair[0] in _OLD]
        return Frame([edges(_OLD, pairs), _old_way(goes_on), boxes(_OLD),
                      _old_values(value, goes_on)], says)
    return Frame([_functions() + edges(_NEW, _NEW_EDGES) + boxes(_NEW),
                  _new_values(value, goes_on, k, p, x)], says)


def _graph(old: bool) -> tf.Graph:
    """Builds the loop, and an op that tests its condition for a limit that is fed."""
    before = tf1.control_flow_v2_enabled()
    (tf1.disable_control_flow_v2 if old else tf1.enable_control_flow_v2)()
    try:
        with tf.Graph().as_default() as graph:
            x = tf1.placeholder(tf.float32, [], name="x")
            n, limit = (tf1.placeholder(tf.int32, [], name=name)
                        for name in ("n", "limit"))
            k, p = tf.while_loop(lambda k, p: k < n, lambda k, p: (k + 1, p * x),
                                 [0, 1.0], name="while")
            tf.less(tf.identity(k, name="k_out"), limit, name="asked")
            tf.identity(p, name="p_out")
    finally:
        (tf1.enable_control_flow_v2 if before else tf1.disable_control_flow_v2)()
    return graph


def _op(name: str) -> str:
    return name.lstrip("^").split(":")[0]


def _old_way(goes_on: bool) -> str:
    """Draws the path of both loop variables in this iteration."""
    ways: list[tuple[str, str]] = []
    for suffix, end in (("", "add"), ("_1", "mul")):
        stops = (["Switch" + suffix, end, "NextIteration" + suffix, "Merge" + suffix]
                 if goes_on else ["Switch" + suffix, "Exit" + suffix])
        stops = ["while/" + stop for stop in stops]
        ways += zip(stops, stops[1:], strict=False)
    return edges(_OLD, ways, 4, "")


def _old_values(value: dict, goes_on: bool) -> str:
    drawn = [bold(350, 232, value["asked"], "ink")]
    for css, suffix, name, side in (("a", "", "k", 1), ("b", "_1", "p", -1)):
        x, y, *_ = _OLD["while/Merge" + suffix]
        drawn.append(bold(x + 38 * side, y + 5, value[name], css,
                           "start" if side > 0 else "end"))
        if not goes_on:
            x, y, *_ = _OLD["while/Exit" + suffix]
            drawn.append(bold(x, y + 36, value[name], css))
    return "".join(drawn)


def _functions() -> str:
    return "".join(
        svg.box(46, y, 640, high, "soft", fill="none", stroke="currentColor",
                stroke_dasharray="4 3", rx=6)
        + svg.text(56, y + 16, f"function {name}", "soft")
        for name, y, high in (("cond", 172, 96), ("body", 280, 148)))


def _new_values(value: dict, goes_on: bool, k: int, p: float, x: float) -> str:
    def said(at, words, css):
        side = -1 if at.endswith(("k", "p")) else 1
        return bold(_NEW[at][0] + 24 * side, _NEW[at][1] + 6, words, css,
                     "start" if side > 0 else "end")

    drawn = [said("cond/k", k, "a"), said("cond/answer", value["asked"], "ink")]
    if goes_on:
        return "".join(drawn + [
            said("body/k", k, "a"), said("body/k next", k + 1, "a"),
            said("body/p", f"{p:g}", "b"), said("body/p next", f"{p * x:g}", "b")])
    return "".join(drawn + [
        pointer([at, at], [111, 146], css, 4) + bold(at, 162, value[name], css)
        for name, css, at in (("k", "a", 270), ("p", "b", 430))])
