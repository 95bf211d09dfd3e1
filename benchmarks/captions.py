"""Show and Tell of lesson 08: a step of training and both searches, beside rivals.

    python3 course.py bench captions [--quick]

The decoder alone, an LSTM of the lesson's sizes on random features and captions. A
step of training is teacher forcing, the masked loss and Adam with clipped gradients:

  ours          helpers.captions: a scan, and the check that all is finite
  unrolled      the lesson's own loop: one cell after the other in the graph
  keras         the same layers of Keras, a step by hand in a tf.function
  limit         the products of matrices that a step needs, forward and backward

A search finds captions for a batch of pictures; all begin with the same weights:

  ours greedy, ours beam        helpers.captions, the whole search in the graph
  python greedy, python beam    one session.run per word, the rest in NumPy
  limit greedy, limit beam      the products of matrices that the search needs
"""

import argparse
from collections.abc import Callable

import numpy as np

from benchmarks.results import Table
from benchmarks.rounds import commands, compared, compete, options_of, report

WORDS, FEATURES, EMBEDDING, UNITS, LENGTH = 60, 256, 64, 128, 12
WIDTH, START, END = 3, 0, 1
RATE, CLIP = 1e-3, 5.0


def batch_of(size: int) -> dict[str, np.ndarray]:
    """Returns features, inputs, targets and mask of as many random captions."""
    rng = np.random.default_rng(7)
    ids = rng.integers(2, WORDS, [size, LENGTH + 1], np.int32)
    lengths = rng.integers(LENGTH // 2, LENGTH + 1, size)
    return {
        "features": rng.normal(size=[size, FEATURES]).astype(np.float32),
        "inputs": ids[:, :-1], "targets": ids[:, 1:],
        "mask": (np.arange(LENGTH) < lengths[:, None]).astype(np.float32),
    }


def model():
    """Returns lesson 08's model, of these sizes."""
    from helpers import captions

    return captions.ShowAndTell(captions.Sizes(
        words=WORDS, embedding=EMBEDDING, units=UNITS, cell="lstm"))


def scanned(net, features, inputs):
    """Returns the logits of `teach`."""
    return net.teach(features, inputs)


def unrolled(net, features, inputs):
    """Returns the same logits, by a loop of Python."""
    import tensorflow as tf

    state, logits = net.start(features), []
    for place in range(inputs.shape[1]):
        one, state = net.step(inputs[:, place], state)
        logits.append(one)
    return tf.stack(logits, axis=1)


def step_in_graph(teach: Callable, size: int) -> Callable:
    """Returns a call that makes a step of training and returns the loss."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    from helpers import captions

    batch = batch_of(size)
    with tf.Graph().as_default() as graph:
        fed = {k: tf1.placeholder(v.dtype, v.shape) for k, v in batch.items()}
        logits = teach(model(), fed["features"], fed["inputs"])
        total, words = captions.masked_loss(logits, fed["targets"], fed["mask"])
        loss = total / words
        train = captions.train_op(loss, captions.variables_of("decoder"),
                                  tf1.train.AdamOptimizer(RATE), clip=CLIP)
        init = tf1.global_variables_initializer()
    session = tf1.Session(graph=graph)
    session.run(init)
    feeds = {fed[k]: batch[k] for k in fed}
    return lambda: session.run([loss, train], feeds)[0]


def step_of_keras(size: int) -> Callable:
    """Returns the same for layers of Keras."""
    import tensorflow as tf

    layers = tf.keras.layers
    project, cell = layers.Dense(EMBEDDING), layers.LSTM(UNITS, return_sequences=True)
    table, last = layers.Embedding(WORDS, EMBEDDING), layers.Dense(WORDS)
    optimizer = tf.keras.optimizers.Adam(RATE, global_clipnorm=CLIP)
    batch = {k: tf.constant(v) for k, v in batch_of(size).items()}

    @tf.function
    def step(features, inputs, targets, mask):
        with tf.GradientTape() as tape:
            shown = project(features)[:, None]  # the picture is the first word
            logits = last(cell(tf.concat([shown, table(inputs)], 1))[:, 1:])
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
            loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
        weights = [w for layer in (project, table, cell, last)
                   for w in layer.trainable_weights]
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss

    return lambda: step(**batch).numpy()


def products(rows: int, steps: int, times: int) -> Callable:
    """Returns a call that multiplies as many matrices of these sizes, alone."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    with tf.Graph().as_default() as graph:
        x, cell, h, last = (
            tf1.get_variable(name, shape, use_resource=True) for name, shape in (
                ("x", [rows, EMBEDDING + UNITS]), ("h", [EMBEDDING + UNITS, 4 * UNITS]),
                ("o", [rows, UNITS]), ("last", [UNITS, WORDS])))
        made = []
        for _ in range(times * steps):  # one after the other, as a recurrence must
            with tf.control_dependencies(made[-1:]):
                made += [tf.matmul(x, cell).op]
                made += [tf.matmul(h, last).op]
        init = tf1.global_variables_initializer()
    session = tf1.Session(graph=graph)
    session.run(init)
    return session.make_callable(made)


def searching(rows_of: Callable, size: int) -> Callable:
    """Returns a call that finds captions of the batch: int32 [batch, length]."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    features = batch_of(size)["features"]
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(7)
        fed, net = tf1.placeholder(tf.float32, [None, FEATURES]), model()
        search = rows_of(net, net.start(fed))
        init = tf1.global_variables_initializer()
    session = tf1.Session(graph=graph)
    session.run(init)
    return lambda: search(session, {fed: features})


LIMITS = {"max_length": LENGTH, "start": START, "end": END}


def in_graph(width: int) -> Callable:
    """Returns what builds our search of this width."""
    from helpers import captions

    def build(net, state):
        if width == 1:
            ids = captions.greedy_search(net.step, state, **LIMITS)
        else:
            found = captions.beam_search(net.step, state, width=width, **LIMITS)
            ids = found.ids[:, 0]
        return lambda session, feeds: session.run(ids, feeds)

    return build


def by_python(width: int) -> Callable:
    """Returns what builds a search by one `session.run` per word."""
    import tensorflow as tf
    import tensorflow.compat.v1 as tf1

    def build(net, state):
        [(c, h)] = state
        last = tf1.placeholder(tf.int32, [None])
        old = [tf1.placeholder(tf.float32, [None, UNITS]) for _ in range(2)]
        logits, [(new_c, new_h)] = net.step(last, (tuple(old),))
        logp = tf.nn.log_softmax(logits)

        def search(session, feeds):
            def step(words, states):
                feed = {last: words, old[0]: states[0], old[1]: states[1]}
                found, *states = session.run([logp, new_c, new_h], feed)
                return found, states

            return beam_of_numpy(step, session.run([c, h], feeds), width)

        return search

    return build


def beam_of_numpy(step: Callable, states: list, width: int) -> np.ndarray:
    """Returns the best caption of each picture, int32 [batch, length]."""
    size = len(states[0])
    states = [np.repeat(s, width, 0) for s in states]
    scores = np.full([size, width], -1e9, np.float32)
    scores[:, 0] = 0.0
    ids = np.full([size, width, LENGTH], END, np.int32)
    words = np.full(size * width, START, np.int32)
    best, best_score = ids[:, 0].copy(), np.full(size, -2e9, np.float32)
    pictures = np.arange(size)[:, None]
    for time in range(LENGTH):
        logp, states = step(words, states)
        extended = (scores[..., None] + logp.reshape(size, width, -1)).reshape(size, -1)
        top = np.argsort(-extended, axis=1)[:, :width]
        scores = np.take_along_axis(extended, top, 1)
        parents, new = top // WORDS, top % WORDS
        ids = ids[pictures, parents]
        ids[:, :, time] = new
        states = [s[(pictures * width + parents).ravel()] for s in states]
        for place in range(width):
            better = (new[:, place] == END) & (scores[:, place] > best_score)
            best[better], best_score[better] = ids[better, place], scores[better, place]
        scores = np.where(new == END, -2e9, scores)
        words = new.ravel().astype(np.int32)
        if (scores.max(1) <= np.maximum(best_score, -1e9)).all():
            break
    none = best_score < -1e9
    best[none] = ids[none, scores[none].argmax(1)]
    return best


TRAINING = {
    "ours": lambda size: step_in_graph(scanned, size),
    "unrolled": lambda size: step_in_graph(unrolled, size),
    "keras": step_of_keras,
    "limit": lambda size: products(size, LENGTH + 1, times=3),
}
SEARCHES = {
    "ours greedy": lambda size: searching(in_graph(1), size),
    "python greedy": lambda size: searching(by_python(1), size),
    "limit greedy": lambda size: products(size, LENGTH + 1, times=1),
    "ours beam": lambda size: searching(in_graph(WIDTH), size),
    "python beam": lambda size: searching(by_python(WIDTH), size),
    "limit beam": lambda size: products(size * WIDTH, LENGTH + 1, times=1),
}
CONTESTANTS = TRAINING | SEARCHES


def main(arguments: list[str]) -> list[Table]:
    """Runs all contestants, or the one that `--one` names."""
    parser = options_of("captions", CONTESTANTS)
    parser.add_argument("--batch", type=int, default=64, help="pictures")
    parser.add_argument("--calls", type=int, default=100, help="per round")
    options = parser.parse_args(arguments)
    if options.one:
        call = CONTESTANTS[options.one](options.batch)
        call(), call()  # the warm-up
        report(lambda: sum(call() is not ... for _ in range(options.calls))
               * options.batch)
        return []
    if options.quick:
        options.rounds, options.batch, options.calls = 1, 4, 2
    check_searches(options.batch)
    kinds = {"a step of training": list(TRAINING)} | {
        f"{kind} search" + f" of width {WIDTH}" * (kind == "beam"):
        [name for name in SEARCHES if name.endswith(kind)]
        for kind in ("greedy", "beam")
    }
    return [table_of(title, names, options) for title, names in kinds.items()]


def check_searches(size: int) -> None:
    """Compares what the searches say; the weights are the same."""
    for kind in ("greedy", "beam"):
        ours, python = (SEARCHES[f"{who} {kind}"](size)() for who in ("ours", "python"))
        same = (ours == python).all(axis=1).mean()
        assert same > 0.9, f"{kind}: only {same:.2f} of the captions agree"


def table_of(title: str, names: list[str], options: argparse.Namespace) -> Table:
    """Returns the table of some contestants."""
    arguments = ["--batch", options.batch, "--calls", options.calls]
    results = compete(commands("benchmarks.captions", names, arguments),
                      options.rounds, quick=options.quick)
    ours = [name for name in names if name.startswith("ours")]
    return compared(f"{title}, {options.batch} pictures", results, ours)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
