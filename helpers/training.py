"""Model object that owns a graph's session and its training loop.

    with Model(graph, train, loss, incoming=images, prediction=logits) as model:
        model.restore(folder)
        losses = model.fit(500)
        losses += model.fit(500)
        model.save(folder)
        logits = model.predict(new_images)

Taught in lesson 05c, "One object that owns the training".
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, real, whole
from helpers.checkpoints.restoring import restore_latest
from helpers.checkpoints.saving import save_numbered
from helpers.queues.running import Runner, running_queues
from helpers.towers import session_config


class Model:
    """Model with its own session, which trains, predicts, saves, and restores.

    The queues start with the first step and run until `close`, because a queue that a
    coordinator has closed cannot be reopened.

    Args:
      graph: Graph with a global step, complete except for a Saver.
      train: Op of one update, which increases the global step by one.
      loss: Loss, a scalar tensor.
      incoming: Tensor that `predict` feeds, a placeholder or any other tensor.
      prediction: Tensor that `predict` fetches.
      config: Configuration of the session, by default `towers.session_config()`.
      stall: Seconds after which a step counts as stalled.

    Attributes:
      graph, train, loss: The arguments of the same names.
      step: Global step of the graph.
      session: Session, which is open until `close`.
      saver: Saver of all variables, including slots and step, which keeps five
        checkpoints.

    Raises:
      ValueError: If the graph has no global step.

    Source: the towers document, whose classes hold graph, session, `fit`, `predict`.
    """

    @numbers(stall=real(0, infinite=True))
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
        self.graph, self.train, self.loss = graph, train, loss
        self.step = tf1.train.get_global_step(graph)
        if self.step is None:
            raise ValueError(
                "The graph has no global step. Call "
                "tf1.train.get_or_create_global_step() when building the graph."
            )
        self._incoming, self._prediction = incoming, prediction
        config = session_config() if config is None else config
        self.session = tf1.Session(graph=graph, config=config)
        with graph.as_default():
            self.saver = tf1.train.Saver(max_to_keep=5)
            self.session.run([tf1.global_variables_initializer(),
                              tf1.local_variables_initializer()])
        self._stack = contextlib.ExitStack()
        self._stack.callback(self.session.close)
        self._runner: Runner | None = None
        self._stall = stall

    def run(self, fetches: Any, feed_dict: dict | None = None) -> Any:
        """Runs fetches in the session while the queues are running.

        Raises:
          PipelineStalled: If a step stalls. The message names the queue that starves.
            All other errors are those of `Runner.run`.
        """
        if self._runner is None:
            self._runner = self._stack.enter_context(
                running_queues(self.session, stall=self._stall))
        return self._runner.run(fetches, feed_dict)

    @numbers(steps=whole(0), every=whole())
    def fit(
        self,
        steps: int,
        feed_dict: dict | None = None,
        *,
        every: int = 1,
        also: Any = (),
        each: Callable[[int, Any], None] | None = None,
    ) -> list[float]:
        """Trains for a number of further steps and returns the losses.

        Call the method as often as you like.

        Args:
          steps: Number of steps.
          feed_dict: Feeds, as for `session.run`, the same for each step.
          every: At the global steps that are divisible by this number, the training run
            also fetches `also`, which therefore belongs to the batch of this step.
          also: Additional fetches, for example a summary.
          each: Function that is then called as `each(step, values_of_also)`, after the
            update.

        Returns:
          The loss of each step, before its update.

        Raises:
          RuntimeError: If `train` does not increase the global step.
          tf.errors.OpError: If a step fails. The next `fit` continues.
        """
        losses, begun = [], int(self.run(self.step))
        for at in range(begun + 1, begun + steps + 1):
            due = at % every == 0
            loss, _, values = self.run(
                [self.loss, self.train, also if due else ()], feed_dict)
            losses.append(float(loss))
            if due and each is not None:
                each(at, values)
        if (ended := int(self.run(self.step))) != begun + steps:
            raise RuntimeError(
                f"The global step went from {begun} to {ended} in {steps} steps of "
                "fit. Pass it to apply_gradients exactly once."
            )
        return losses

    def predict(self, values: Any) -> np.ndarray:
        """Returns the prediction for given values, without using the queues."""
        return self.session.run(self._prediction, {self._incoming: values})

    def save(self, folder: str | os.PathLike) -> Path:
        """Saves all variables under the global step with `save_numbered`."""
        at = int(self.session.run(self.step))
        return save_numbered(self.saver, self.session, folder, at)

    def restore(self, folder: str | os.PathLike) -> int | None:
        """Restores the newest complete checkpoint with `restore_latest`."""
        return restore_latest(self.saver, self.session, folder)

    def close(self) -> None:
        """Stops the queues, joins their threads, and closes the session."""
        self._stack.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *error) -> bool | None:
        return self._stack.__exit__(*error)
