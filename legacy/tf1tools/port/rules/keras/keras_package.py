"""Replaces the package `keras` with legacy Keras in `tf.keras`.

The package `keras` was once Keras 1 or Keras 2, but today `import keras` imports Keras
3. The old program gets `tf.keras` of `compat.v1`, which is Keras 2. Keras 1 kept its
layers in separate modules, which are renamed. Its arguments had other names and
sometimes other meanings, so those lines are left for you.

Since: Keras 3
Lesson: 10a
Side: TensorFlow 1.15 with Keras 2.3.1

Before:

    import keras
    from keras.layers.core import Dense as D
    model = keras.models.Sequential([D(3)])

After:

    import os
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    keras = tf.keras
    D = tf.keras.layers.Dense
    model = keras.models.Sequential([D(3)])

Left:

    import keras
    from keras.layers.core import Dropout
    from keras.layers import *  # left: one by one
    model.fit(x, y, nb_epoch=1)  # left: write epochs= in place of nb_epoch=
    model.add(keras.layers.Convolution2D(8, 3, 3))  # left: the size of the window
    m = keras.models.Model(input=a, output=b)  # left: write inputs= in place of input=
    model.fit_generator(data, steps_per_epoch=3)
    def train(output_dim, nb_epoch): pass
    train(output_dim=3, nb_epoch=1)
    model.predict_classes(x)  # left: write predict(...).argmax(axis=-1)

Stays:

    import tensorflow as tf
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.fit_generator(data, steps_per_epoch=3)  # left: write fit(...) in place of
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.text.syntax import dotted

rule = Rule(__name__, __doc__, __file__)

ARGUMENTS = {
    "nb_epoch": "epochs", "init": "kernel_initializer", "border_mode": "padding",
    "subsample": "strides", "nb_filter": "filters", "dim_ordering": "data_format",
    "W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer",
    "samples_per_epoch": "steps_per_epoch", "nb_val_samples": "validation_steps",
    "inner_init": "recurrent_initializer", "output_dim": "units",
    "inner_activation": "recurrent_activation", "nb_worker": "workers",
    "filter_length": "kernel_size", "pool_length": "pool_size",
    "subsample_length": "strides", "U_regularizer": "recurrent_regularizer",
    "W_constraint": "kernel_constraint", "b_constraint": "bias_constraint",
    "dropout_W": "dropout", "dropout_U": "recurrent_dropout",
}
GONE = {"fit_generator": "fit(...)", "evaluate_generator": "evaluate(...)",
        "predict_generator": "predict(...)",
        "predict_classes": "predict(...).argmax(axis=-1)"}
# Arguments of one class; "" means that the argument was removed.
OF_A_CLASS = {"Model": {"input": "inputs", "output": "outputs"},
              "Dropout": {"p": "rate"}, "Dense": {"bias": "use_bias"},
              "BatchNormalization": {"mode": ""}}
METHODS = {"fit", "evaluate", "predict", *GONE}
# If these have three or more positional arguments, the second and third are the sides
# of the window; today the third is the stride.
WINDOWS = ("Convolution2D", "Conv2D", "Deconvolution2D", "SeparableConvolution2D",
           "AtrousConvolution2D")
rule.rows({"keras": "tf.keras", "keras.backend.tensorflow_backend": "tf.keras.backend",
           **{f"keras.utils.{module}": "tf.keras.utils" for module in (
               "np_utils", "vis_utils", "data_utils", "generic_utils")},
           **{f"keras.layers.{module}": "tf.keras.layers" for module in (
               "core", "convolutional", "recurrent", "normalization", "embeddings",
               "pooling", "advanced_activations", "noise", "wrappers")},
           # `keras.layers.merge` itself was a function in Keras 1.
           **{f"keras.layers.merge.{name}": f"tf.keras.layers.{name}" for name in (
          "add", "subtract", "multiply", "average", "maximum", "concatenate", "dot",
          "Add", "Subtract", "Multiply", "Average", "Maximum", "Concatenate", "Dot")},
           **{f"keras.engine.{inner}{name}": f"tf.keras.layers.{name}"
              for inner in ("", "topology.") for name in ("Layer", "InputSpec")}})


rule.signs(*(f".{method}({given})" for given in ("", "...") for method in GONE))


@rule.node(ast.Call)
def methods(node, part):
    """Marks methods of models that the Keras of the program no longer has."""
    method, project = getattr(node.func, "attr", ""), part.file.project
    if method in GONE and project.names_keras(part.file) and (
            method == "predict_classes" or not project.is_old(part.file)):
        yield part.left(node, f"write {GONE[method]} in place of {method}(...)")


def _is_keras(node, part) -> bool:
    """Returns whether a call may be one of Keras, and not of the program's own code."""
    if isinstance(node.func, ast.Attribute) and node.func.attr.islower():
        return node.func.attr in METHODS
    star = any(alias.name == "*" for one in part.imports for alias in one.names)
    full = part.full(node.func)
    return full.startswith(("keras", "tf.")) or star and full[:1].isupper()


@rule.node(ast.Call)
def arguments(node, part):
    """Marks arguments of Keras 1 that have changed."""
    name = (dotted(node.func) or "").rpartition(".")[2]
    known = {**ARGUMENTS, **OF_A_CLASS.get(name, {})}
    found = [(word.arg, known[word.arg]) for word in node.keywords if word.arg in known]
    windows = name in WINDOWS and len(node.args) > 2
    if not (found or windows) or name == "Embedding" or not _is_keras(
            node, part) or not part.file.project.has_keras(part.file):
        return
    if windows:
        yield part.left(node, f"{name}: pass the size of the window as one argument, "
                              "(rows, columns)")
    else:
        (old, new), *_ = found
        yield part.left(node, f"write {new}= in place of {old}=" if new else
                        f"remove {old}=")
