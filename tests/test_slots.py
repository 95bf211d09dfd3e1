"""Slots of TensorFlow 1 in Keras's optimizers: training goes on with the same steps."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import load_slots

START = np.array([1.0, -2.0, 3.0], np.float32)
SLOPES = np.random.default_rng(7).normal(size=[9, 3]).astype(np.float32)
PAIRS = {
    "momentum": (tf1.train.MomentumOptimizer(0.1, 0.9),
                 lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9)),
    "no momentum": (tf1.train.GradientDescentOptimizer(0.1),
                    lambda: tf.keras.optimizers.SGD(0.1)),
    "Adagrad": (tf1.train.AdagradOptimizer(0.1),
                lambda: tf.keras.optimizers.Adagrad(0.1)),
    "Adam": (tf1.train.AdamOptimizer(0.1),
             lambda: tf.keras.optimizers.Adam(0.1, epsilon=1e-8)),
    "RMSProp": (tf1.train.RMSPropOptimizer(0.1, 0.9, 0.5),
                lambda: tf.keras.optimizers.RMSprop(0.1, 0.9, 0.5, 1e-10)),
}


def old_training(optimizer):
    """Returns the weight after four steps and after nine, and the slots after four."""
    with tf.Graph().as_default(), tf1.Session() as session:
        w = tf1.get_variable("w", initializer=START)
        slope = tf1.placeholder(tf.float32, [3])
        train = optimizer.apply_gradients([(slope, w)])
        session.run(tf1.global_variables_initializer())
        for gradient in SLOPES[:4]:
            session.run(train, {slope: gradient})
        held = {v.op.name: session.run(v) for v in tf1.global_variables()}
        for gradient in SLOPES[4:]:
            session.run(train, {slope: gradient})
        return held, session.run(w)


@pytest.mark.parametrize("name", PAIRS)
def test_the_steps_after_it_are_those_of_tensorflow_1(name):
    old, make = PAIRS[name]
    held, wanted = old_training(old)
    w, optimizer = tf.Variable(held["w"]), make()
    optimizer.build([w])
    load_slots(optimizer, lambda ending: [held[f"w{ending}"]], step=4)
    assert int(optimizer.iterations) == 4
    for gradient in SLOPES[4:]:
        optimizer.apply_gradients([(tf.constant(gradient), w)])
    np.testing.assert_allclose(w, wanted, rtol=1e-5)


def test_what_does_not_fit_is_refused():
    adam = tf.keras.optimizers.Adam()
    with pytest.raises(ValueError, match="built"):
        load_slots(adam, lambda ending: [START], 4)
    adam.build([tf.Variable(START)])
    with pytest.raises(ValueError, match=r"shape \(3,\), but .* shape \(2,\)"):
        load_slots(adam, lambda ending: [START[:2]], 4)
    nadam = tf.keras.optimizers.Nadam()
    nadam.build([tf.Variable(START)])
    with pytest.raises(ValueError, match="Optimizer Nadam is not supported"):
        load_slots(nadam, lambda ending: [START], 4)
