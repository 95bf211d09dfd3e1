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

Left:

    a = tf.contrib.data.Dataset.range(4)
    b = a.map(f, output_buffer_size=8, num_threads=2)  # left: .prefetch(...)
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
    if word and (word is not node.keywords[-1] or len(spans) < 2):
        yield part.left(node, "replace output_buffer_size= with .prefetch(...) after "
                              "the call")
    elif word:  # the value stays where it is, so other rules may change it
        value = spans[-1][0] + part.written(word).index("=") + 1
        yield Change(part, spans[-2][1], value, ").prefetch(")
