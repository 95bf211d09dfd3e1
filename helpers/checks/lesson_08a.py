"""Exercise check of lesson 08a: scheduled sampling."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, close, drawn, exercise

MANY, STEPS, RUNS = 300, 7, 5  # captions, words, runs: 9,000 coins to count
WORDS = 30


@exercise(
    "Exercise 1: sampled_teach",
    "`tf.where` chooses for each caption between the true word and the guess.",
    "After the first word, toss one coin per caption: `true = tf.random.uniform("
    "tf.shape(word)) < share`. What is left is the "
    "loop over the words, the step, and its guess.",
    about={
        "with a share of 1, reads the true words": (
            "At each place, the decoder reads the word of this place, with the state "
            "that the step before has returned."),
        "with a share of 0, reads its own guesses after the first word": (
            "The guess is the word with the largest logit of the step before. The "
            "share belongs to the true word, and not to the guess."),
        "tosses a coin for each caption, each word, and each run": (
            "A coin of Python, or one with a fixed seed, falls when the graph is "
            "built. You need a random op, with a number for each caption of the "
            "batch, and a new op for each word."),
        "always reads the true word first, and later with probability `share`": (
            "A random number between 0 and 1 is below `share` with the probability "
            "`share`, and then the true word is read. The first word needs no coin."),
        "runs without an error": (
            "While the graph is built, a coin has no value, so Python's `if` cannot "
            "ask it. `share` may be a number or a tensor."),
    },
)
def check_sampled_teach(attempt):
    """Checks scheduled sampling by the words that the decoder has read."""
    for batch, time, words, nested, share, seed in drawn(_case, 12):
        true = np.random.default_rng(seed).integers(0, words, [batch, time])
        case = f"with the captions {true.tolist()} and a share of {share}"
        step, state, table = _language(batch, words, nested, seed)
        without, [logits] = _runs(attempt, step, state, true, share, case, 1)
        yield ("lets gradients flow through all steps", not without,
               f"{case}, the logits at the indices {without} have no gradient with "
               "respect to the first state.")
        yield ("runs `step` once per word", step.calls == true.shape[1],
               f"{case}, one run called it {step.calls} times for {true.shape[1]} "
               "words.")
        due = _oracle(table, true, share)
        yield (f"with a share of {share:.0f}, reads " + (
            "the true words" if share else "its own guesses after the first word"),
            close(logits, due, 1e-4), f"{case}, {_misread(due, logits, table)}")
    rng = np.random.default_rng(7)
    true = rng.integers(0, WORDS, [MANY, STEPS])
    step, state, table = _language(MANY, WORDS, False, 5)
    for share in (0.25, 0.85):
        runs = [_words_read(logits, table)
                for logits in _runs(attempt, step, state, true, share, "", RUNS)[1]]
        coins = [read[:, 1:] == true[:, 1:] for read in runs]
        first = all((read[:, 0] == true[:, 0]).all() for read in runs)
        places, one_coin = coins[0].mean(0), (coins[0].all(1) | ~coins[0].any(1)).mean()
        once = (coins[0] == coins[1]).mean()
        yield ("tosses a coin for each caption, each word, and each run",
               np.abs(places - share).max() < 0.2 and one_coin < 0.5 and once < 1,
               f"with a share of {share}, the shares of true words by place are "
               f"{places.round(1).tolist()}, {one_coin:.0%} of the captions have one "
               f"coin for all words, and two runs have {once:.0%} of their coins in "
               "common.")
        # A guess is the true word by chance, too.
        due = share + (1 - share) / WORDS
        yield ("always reads the true word first, and later with probability `share`",
               first and abs(np.mean(coins) - due) < 0.025,
               f"with a share of {share}, it read the true word in "
               f"{np.mean(coins):.3f} of the later places. Expected about {due:.3f}, "
               "because a guess may be right by chance." if first else
               f"with a share of {share}, some captions begin with another word.")


def _case(rng, size):
    return (1 + size // 3, 1 + size % 5, int(rng.integers(2, 9)), size % 2 == 1,
            float(size % 3 > 0), size)


def _language(batch, words, nested, seed):
    """Returns a decoder step, a function for its initial state, and its logits.

    The attribute `calls` of the step counts how often a session has run it. The logits
    are indexed by caption, position, and word.
    """
    rng = np.random.default_rng([seed, 1])
    table = rng.normal(size=[batch, STEPS, words, words]).astype(np.float32)
    start = -np.arange(batch, dtype=np.int32) % -3  # a state of any sign

    def counted(index):
        step.calls += 1
        return index

    def step(word, state):
        place = state[0] if nested else state
        index = tf.stack([tf.range(batch), place - start, word], 1)
        shape = index.shape
        index = tf.numpy_function(counted, [index], tf.int32)
        index.set_shape(shape)
        later = (place + 1, state[1] + 1.0) if nested else place + 1
        logits = tf.gather_nd(tf.constant(table), index)
        return logits + 0.0 * tf.reduce_sum(state[1]) if nested else logits, later

    def state():
        first = tf.constant(start)
        return (first, tf.zeros([batch, 2])) if nested else first

    step.calls = 0
    return step, state, table


def _oracle(table, true, share):
    """Computes the expected logits, with true words or with the decoder's guesses."""
    logits, rows = [], range(len(true))
    for place, word in enumerate(true.T):
        if place and not share:
            word = logits[-1].argmax(1)
        logits.append(table[rows, place, word])
    return np.stack(logits, 1)


def _words_read(logits, table):
    """Returns the words that produce the given logits, or -1 if no word does."""
    same = (np.abs(table - logits[:, :, None]) < 1e-5).all(3)
    return np.where(same.any(2), same.argmax(2), -1)


def _misread(due, logits, table):
    """Describes which words the decoder has read, and which were expected."""
    if logits.shape != due.shape:
        return f"expected logits of the shape {due.shape}, but got {logits.shape}."
    expected, read = (_words_read(one, table[:, : due.shape[1]]).tolist()
                      for one in (due, logits))
    return (f"expected the decoder to read {expected}, but it read {read}. (At -1, the "
            "logits fit no word: perhaps the state is another one.)")


def _runs(attempt, step, state, true, share, case, times):
    """Returns the logits of each run, and the positions without a gradient."""
    with tf.Graph().as_default(), tf1.Session() as session:
        words, first = tf.constant(true, tf.int32), state()
        inputs = tf1.placeholder_with_default(words, [None, true.shape[1]])
        with answering(case):
            logits = attempt(step, first, inputs,
                             tf.constant(share) if isinstance(first, tuple) else share)
            places = tf.unstack(logits, true.shape[1], axis=1)
            without = [k for k, place in enumerate(places) if isinstance(first, tuple)
                       and tf1.gradients(place, first[1]) == [None]]
            return without, [session.run(logits) for _ in range(times)]
