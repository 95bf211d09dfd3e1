"""Files that somebody left: what they are, and running them, from graph to weights.

    print(describe("model.ckpt-30.meta"))
    model = open_model("frozen.pb")
    probabilities = model(images=pictures)

A file is data here. Nothing runs Python that a file brings (no pickle, no Lambda layer,
no library of ops), and ops that touch files or start programs are refused by name.
"""

from helpers.inherited.describing import Description, describe
from helpers.inherited.opening import OpenModel, open_model
from helpers.inherited.weights import read_weights

__all__ = ["Description", "OpenModel", "describe", "open_model", "read_weights"]
