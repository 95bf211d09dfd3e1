"""Describes and safely opens model files of unknown origin.

    print(describe("model.ckpt-30.meta"))
    model = open_model("frozen.pb")
    probabilities = model(images=pictures)

A file is data here. Of a graph only those ops run that `ops.txt` names, and a Keras
file is made from the classes of `keras.txt`; all else is refused by its name.
"""

from helpers.inherited.arrays import read_weights
from helpers.inherited.describing import Description, describe
from helpers.inherited.opening import OpenModel, open_model

__all__ = ["Description", "OpenModel", "describe", "open_model", "read_weights"]
