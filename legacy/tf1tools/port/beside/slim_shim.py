"""Restores the module paths that tf-slim imports; import this module first."""

import importlib
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_ops

found, old = "tf_keras.src.legacy_tf_layers", "tf_keras.legacy_tf_layers"
for part in "", ".base", ".convolutional", ".core", ".normalization":
    sys.modules[old + part] = importlib.import_module(found + part)
ops.Tensor, ops.IndexedSlices = tf.Tensor, tf.IndexedSlices
control_flow_ops.cond, control_flow_ops.case = tf.cond, tf.case

# In tf.contrib.slim, nets were imported with slim. `training` is both a package and a
# module in it.
importlib.import_module("tf_slim.nets")
sys.modules["tf_slim.training"] = sys.modules["tf_slim"].training
