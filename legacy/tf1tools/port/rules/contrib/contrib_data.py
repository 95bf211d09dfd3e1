"""Renames the thread arguments of `map` in `tf.contrib.data`.

In TensorFlow 1.2, the arguments for the threads of a `map` had other names, and the
size of the output buffer was an argument instead of a call of `prefetch`.

Since: TensorFlow 1.4
Lesson: 10a
Side: TensorFlow 1.3

Before:

    data = tf.contrib.data.Dataset.range(4).map(f, num_threads=2, output_buffer_size=8)

After:

    data = tf.data.Dataset.range(4).map(f, num_parallel_calls=2).prefetch(8)
"""

import ast

from tf1tools.port.rule import Change, Rule

rule = Rule(__name__, __doc__, __file__)


@rule.node(ast.Call)
def threads(node, part):
    """Replaces `num_threads` and `output_buffer_size` with their successors."""
    if getattr(node.func, "attr", "") not in ("map", "filter", "flat_map"):
        return
    spans = part.arguments(node)
    words = {word.arg: word for word in node.keywords}
    if word := words.get("num_threads"):
        start = part.text.span(word)[0]
        yield Change(part, start, start + len("num_threads"), "num_parallel_calls")
    word = words.get("output_buffer_size")
    if word and not isinstance(word.value, ast.Constant | ast.Name):
        yield part.left(node, "replace output_buffer_size= with .prefetch(...) after "
                              "the call")
    elif word:
        place = next(n for n, (start, end) in enumerate(spans)
                     if start <= part.start(word) < end)
        yield Change(part, spans[place - 1][1], spans[place][1], "")
        yield part.behind(node, f".prefetch({part.written(word.value)})")
