"""One model object: a graph that is complete, its session, and what one does with it.

    with Model(graph, train, loss, incoming=images, prediction=logits) as model:
        model.restore(folder)
        losses = model.fit(500)
        losses += model.fit(500)
        model.save(folder)
        logits = model.predict(new_images)

The queues start with the first `fit` and run until `close`. A queue that a coordinator
has closed cannot be opened again, so a `fit` that stops them works once.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import checkpoints, queues


class Model:
    """Owns the session of a graph, and the Saver of its variables.

    Source: the towers document, whose classes hold graph, session, `fit` and
    `predict`.

    Attributes:
      graph: as given; it gains a Saver and the ops that initialise it.
      session: open until `close`.
      train: as given.
      loss: as given.
      step: the graph's global step.
      saver: over all global variables, so slots and step too; keeps five checkpoints.
    """

    def __init__(
        self,
        graph: tf.Graph,
        train: tf.Operation,
        loss: tf.Tensor,
        *,
        incoming: tf.Tensor | None = None,
        prediction: tf.Tensor | None = None,
        config: tf1.ConfigProto | None = None,
        stall: float = 60,
    ):
        """Opens a session on a graph and initialises its variables.

        Args:
          graph: complete but for a Saver; it needs a global step.
          train: one update; it moves the global step by one.
          loss: a scalar.
          incoming: what `predict` feeds: a placeholder, or any other tensor.
          prediction: what `predict` fetches.
          config: of the session.
          stall: seconds after which a step counts as stalled.

        Raises:
          ValueError: the graph has no global step.
        """
        self.step = tf1.train.get_global_step(graph)
        if self.step is None:
            raise ValueError(
                "Model: the graph has no global step, so no checkpoint could say how "
                "far it is: call tf1.train.get_or_create_global_step() while you build "
                "and give it to apply_gradients"
            )
        self.graph = graph
        self.train, self.loss = train, loss
        self._incoming, self._prediction = incoming, prediction
        with graph.as_default():
            self.saver = tf1.train.Saver(max_to_keep=5)
            init = [tf1.global_variables_initializer(),
                    tf1.local_variables_initializer()]
        self.session = tf1.Session(graph=graph, config=config)
        self.session.run(init)
        self._stall = stall
        self._open = contextlib.ExitStack()
        self._open.callback(self.session.close)
        self._runner: queues.Runner | None = None

    def run(self, fetches: Any, feed_dict: dict | None = None) -> Any:
        """Runs anything in the session, with the queues running.

        Args:
          fetches: as for `session.run`.
          feed_dict: as for `session.run`.

        Returns:
          The values of `fetches`.

        Raises:
          As `helpers.queues.Runner.run`: the error names the queue that starves.
        """
        if self._runner is None:
            self._runner = self._open.enter_context(
                queues.running_queues(self.session, stall=self._stall)
            )
        return self._runner.run(fetches, feed_dict)

    def fit(
        self,
        steps: int,
        feed_dict: dict | None = None,
        *,
        every: int = 1,
        also: Any = (),
        each: Callable[[int, Any], None] | None = None,
    ) -> list[float]:
        """Trains for so many steps more; call it as often as you like.

        Args:
          steps: how many.
          feed_dict: as for `session.run`, the same for each step.
          every: at the global steps that this divides, `also` is fetched by the run
            that trains, so it shows the batch that was trained on.
          also: what to fetch then, a summary for example.
          each: called then as `each(step, values_of_also)`, after the update.

        Returns:
          The loss of each step, before its update.

        Raises:
          RuntimeError: `train` does not move the global step.
          tf.errors.OpError: what a step failed with. The next `fit` goes on.
        """
        losses = []
        always = {"loss": self.loss, "train": self.train}
        begun = int(self.run(self.step))
        for at in range(begun + 1, begun + steps + 1):
            due = at % every == 0
            fetches = dict(always, also=also) if due else always
            values = self.run(fetches, feed_dict)
            losses.append(float(values["loss"]))
            if due and each is not None:
                each(at, values["also"])
        if (ended := int(self.run(self.step))) != begun + steps:
            raise RuntimeError(
                f"fit: after {steps} steps from {begun} the global step is {ended}: "
                "give it to apply_gradients, once"
            )
        return losses

    def predict(self, values: Any) -> np.ndarray:
        """Returns the prediction for values of your own; no queue is touched.

        Args:
          values: what `incoming` takes.

        Raises:
          ValueError: the model was made without `incoming` or `prediction`.
        """
        if self._incoming is None or self._prediction is None:
            raise ValueError("predict: give Model incoming= and prediction=")
        return self.session.run(self._prediction, {self._incoming: values})

    def save(self, folder: str | os.PathLike) -> Path:
        """Saves all variables under the global step.

        Args:
          folder: made if it is not there.

        Returns:
          The checkpoint's path without ending.

        Raises:
          DataError: a value is not finite; see `checkpoints.save_numbered`.
        """
        at = int(self.session.run(self.step))
        return checkpoints.save_numbered(self.saver, self.session, folder, at)

    def restore(self, folder: str | os.PathLike) -> int | None:
        """Restores the newest whole checkpoint.

        Args:
          folder: where `save` wrote.

        Returns:
          Its global step; `None` where nothing was ever saved.

        Raises:
          DataError: none of the checkpoints there can be used, or the newest is of
            another model; see `checkpoints.restore_latest`.
        """
        return checkpoints.restore_latest(self.saver, self.session, folder)

    def close(self) -> None:
        """Stops the queues, joins their threads and closes the session."""
        self._open.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *error) -> bool | None:
        return self._open.__exit__(*error)
