"""Describes and safely opens model files of unknown origin.

    print(describe("model.ckpt-30.meta"))
    model = open_model("frozen.pb")
    probabilities = model(images=pictures)

A model file is treated as data. Of a graph, only ops that `ops.txt` lists are run, and
a Keras file is rebuilt only from classes that `keras.txt` lists. Everything else is
refused, with its name in the message.
"""

from helpers.inherited.arrays import read_weights
from helpers.inherited.describing import Description, describe
from helpers.inherited.opening import OpenModel, open_model

__all__ = ["Description", "OpenModel", "describe", "open_model", "read_weights"]
