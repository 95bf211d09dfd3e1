"""Exercise check of lesson 15c: the loss of a captioner."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, close, drawn, exercise, near, tensor


@exercise(
    "Exercise 1: sequence_loss",
    "`tf.stack(outputs, axis=1)` puts the places of a caption side by side, and "
    "`tf.sequence_mask(labels_length, len(outputs))` says which of them are real.",
    "`labels = tf.where(mask, labels, 0)` replaces the labels of the padding. What is "
    "left is the logits, the sparse loss of each place, and the mean over the mask.",
    about={
        "ignores all that comes after the end of a caption": (
            "Two things must not see the padding: the sum of the losses, and the "
            "sparse loss itself, which refuses a label that is no word."),
        "computes the mean loss of the real places": (
            "Divide by the number of real places, and not by the number of captions or "
            "of all places. Each output belongs to the label of its own place and its "
            "own caption."),
        "has the gradient of this loss": (
            "The loss has to be computed from the logits, so that it has a gradient "
            "with respect to `w` and `b`."),
    },
)
def check_sequence_loss(attempt):
    """Checks a masked loss and its gradient against NumPy, with other padding too."""
    for outputs, labels, lengths, w, b in drawn(_case, 14):
        case = (f"with the labels {labels.tolist()}, the lengths {lengths.tolist()}, "
                f"and {len(b)} words")
        loss, *gradients = _oracle(outputs, labels, lengths, w, b)
        found = _run(attempt, outputs, labels, lengths, w, b, case)
        yield found[0]
        yield near("computes the mean loss of the real places", loss, found[1], case,
                   1e-4, 1e-5)
        other = _run(attempt, *_other_padding(outputs, labels, lengths), w, b, case)
        yield ("ignores all that comes after the end of a caption",
               close(other[1], loss, 1e-4, 1e-5),
               f"{case}: with other labels and outputs in the padding, the loss is "
               f"{other[1]:.6g} instead of {loss:.6g}")
        yield near("has the gradient of this loss", gradients, found[2], case, 1e-3,
                   1e-5)


def _case(rng, size):
    batch, time = 1 + size // 2, 1 + size % 5
    width, words = int(rng.integers(1, 5)), int(rng.integers(2, 7))
    lengths = rng.integers(1, time + 1, batch).astype(np.int32)
    return (rng.normal(size=[time, batch, width]).astype(np.float32),
            rng.integers(0, words, [batch, time]).astype(np.int32), lengths,
            rng.normal(size=[width, words]).astype(np.float32),
            rng.normal(size=words).astype(np.float32))


def _other_padding(outputs, labels, lengths):
    """Returns outputs and labels with nonsense after the end of each caption."""
    padding = np.arange(labels.shape[1]) >= lengths[:, None]
    return (np.where(padding.T[..., None], np.float32(50), outputs),
            np.where(padding, np.int32(-1), labels), lengths)


def _oracle(outputs, labels, lengths, w, b):
    """Computes the loss and its gradients with respect to `w` and `b`."""
    total, slope_w, slope_b = 0.0, np.zeros(w.shape), np.zeros(b.shape)
    for caption, length in enumerate(lengths):
        for place in range(length):
            output = outputs[place, caption].astype(float)
            logits = output @ w + b
            shares = np.exp(logits - logits.max())
            shares /= shares.sum()
            word = labels[caption, place]
            total -= np.log(shares[word])
            shares[word] -= 1
            slope_w += np.outer(output, shares)
            slope_b += shares
    count = lengths.sum()
    return total / count, slope_w / count, slope_b / count


def _run(attempt, outputs, labels, lengths, w, b, case):
    """Returns a claim about the type of the loss, the loss, and its gradients."""
    with tf.Graph().as_default(), tf1.Session() as session:
        rows = [tf.constant(output) for output in outputs]
        weights = [tf1.get_variable(name, initializer=value)
                   for name, value in (("w", w), ("b", b))]
        with answering(case):
            loss = attempt(rows, tf.constant(labels), tf.constant(lengths), *weights)
            claim = tensor("returns a scalar float32 tensor", tf.float32, loss, case)
            session.run(tf1.global_variables_initializer())
            found = session.run(loss)
            gradients = tf1.gradients(loss, weights)
            if None in gradients:
                return claim, found, ["no gradient"]
            return claim, found, session.run(gradients)
