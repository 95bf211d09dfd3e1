"""The check of lesson 08a: scheduled sampling."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import answering, drawn, exercise, near
from helpers.checks.watch import Watch

MANY, STEPS = 300, 7  # captions and words, enough to count coins by


@exercise(
    "Exercise 1: sampled_teach",
    "`tf.where` picks word by word, the true one or the guess.",
    "`true = tf.random.uniform(tf.shape(word)) < share`, tossed for every place after "
    "the first. What is left: the loop over places, a step, and the guess.",
)
def check_sampled_teach(attempt):
    """Runs `(step, state, inputs, share)`; the logits tell which word was read."""
    for batch, time, words, nested, share, seed in drawn(_case, 12):
        true = np.random.default_rng(seed).integers(0, words, [batch, time])
        case = f"captions {true.tolist()}, share {share}"
        step, state, table = _language(batch, words, nested, seed)
        without, [found] = _runs(attempt, step, state, true, share, case, 1)
        yield ("a gradient goes through all of it", not without,
               f"{case}: the logits of the words {without} have none with respect to "
               "the first state.")
        yield ("calls `step` once a word, or in a loop of the graph",
               step.calls <= true.shape[1] * (1 + Watch.second),
               f"{case}: it built {step.calls} steps.")
        due = _oracle(table, true, share)
        yield near(f"a share of {share:.0f} reads " + (
            "the true words" if share else "its own guesses after the first"),
            due, found, case, 1e-4)
    rng = np.random.default_rng(7)
    true = rng.integers(0, 30, [MANY, STEPS])
    step, state, table = _language(MANY, 30, False, 5)
    for share in (0.3, 0.8):
        runs = [_words_read(found, table)
                for found in _runs(attempt, step, state, true, share, "", 2)[1]]
        coins = [read[:, 1:] == true[:, 1:] for read in runs]
        yield ("the first word is always a true one",
               all((read[:, 0] == true[:, 0]).all() for read in runs),
               f"with a share of {share} it is not.")
        places, one_coin = coins[0].mean(0), (coins[0].all(1) | ~coins[0].any(1)).mean()
        once = (coins[0] == coins[1]).mean()
        yield ("else fresh coins: for each caption, each word, each run",
               abs(np.mean(coins) - share) < 0.06
               and np.abs(places - share).max() < 0.2 and one_coin < 0.5 and once < 1,
               f"share {share}: true words by place {places.round(1).tolist()}; "
               f"{one_coin:.0%} of the captions have one coin for all words; two runs "
               f"have {once:.0%} of their coins in common.")


def _case(rng, size):
    return (1 + size // 3, 1 + size % 5, int(rng.integers(2, 9)), size % 2 == 1,
            float(size % 3 > 0), size)


def _language(batch, words, nested, seed):
    """A step whose logits depend on the word, the place and the caption."""
    rng = np.random.default_rng([seed, 1])
    table = rng.normal(size=[batch, STEPS, words, words]).astype(np.float32)
    start = -np.arange(batch, dtype=np.int32) % -3  # a state of any sign

    def step(word, state):
        step.calls += 1
        place = state[0] if nested else state
        index = tf.stack([tf.range(batch), place - start, word], 1)
        later = (place + 1, state[1] + 1.0) if nested else place + 1
        logits = tf.gather_nd(tf.constant(table), index)
        return logits + 0.0 * tf.reduce_sum(state[1]) if nested else logits, later

    def state():
        first = tf.constant(start)
        return (first, tf.zeros([batch, 2])) if nested else first

    step.calls = 0
    return step, state, table


def _oracle(table, true, share):
    """Logits of a teacher (share 1) or of own guesses (share 0), in Python."""
    logits, rows = [], range(len(true))
    for place, word in enumerate(true.T):
        if place and not share:
            word = logits[-1].argmax(1)
        logits.append(table[rows, place, word])
    return np.stack(logits, 1)


def _words_read(logits, table):
    """Which word of the language gives these logits; -1 for none."""
    same = (np.abs(table - logits[:, :, None]) < 1e-5).all(3)
    return np.where(same.any(2), same.argmax(2), -1)


def _runs(attempt, step, state, true, share, case, times):
    """Returns which logits lack a gradient of a float state, and values by run."""
    with tf.Graph().as_default(), tf1.Session() as session:
        words, first = tf.constant(true, tf.int32), state()
        inputs = tf1.placeholder_with_default(words, [None, true.shape[1]])
        with answering(case):
            logits = attempt(step, first, inputs,
                             tf.constant(share) if isinstance(first, tuple) else share)
            places = tf.unstack(logits, true.shape[1], axis=1)
            without = [k for k, one in enumerate(places) if isinstance(first, tuple)
                       and tf1.gradients(one, first[1]) == [None]]
            return without, [session.run(logits) for _ in range(times)]
