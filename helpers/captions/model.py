"""The captioning model Show and Tell: a VGG encoder and a recurrent decoder.

Taught in lesson 08a, "Show, then tell"; `masked_loss` and `train_op` in its sections
after that.
"""

import dataclasses

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, real
from helpers.layers import flatten, fully_connected_layer, gru_cell, lstm_cell
from helpers.towers import process_gradient_list
from helpers.vgg import vgg_features

ENCODER, DECODER = "encoder", "decoder"
# Per layer `h`, or `(c, h)` for an LSTM, each float32 `[batch, units]`.
State = tuple[tf.Tensor | tuple[tf.Tensor, tf.Tensor], ...]


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Hyperparameters that determine the variables of a `ShowAndTell` model.

    Attributes:
      words: length of the vocabulary.
      image_size: height and width of the pictures.
      configuration: of VGG, a key of `vgg.CONFIGURATIONS`.
      base_width: kernels in VGG's first block.
      embedding: length of a word's vector, and of the picture's projection.
      units: outputs of each recurrent layer.
      layers: recurrent layers, one on top of the other.
      cell: `"gru"` or `"lstm"`.
    """

    words: int
    image_size: int = 64
    configuration: str = "A"
    base_width: int = 8
    embedding: int = 64
    units: int = 128
    layers: int = 1
    cell: str = "lstm"


class ShowAndTell:
    """Captioning model whose methods add ops and share one set of variables.

    The picture is the decoder's first input: one step of the recurrent network from
    a state of zeros, whose output is thrown away. Each word is a step of the same
    network, so its variables are used again and again: that is what `reuse` is for.

    Attributes:
      sizes: what it was built with.

    Source: Vinyals, Toshev, Bengio, Erhan, "Show and Tell", 2015.
    """

    def __init__(self, sizes: Sizes):
        self.sizes = sizes

    def encode(self, images: tf.Tensor) -> tf.Tensor:
        """Computes the VGG features of a batch of pictures.

        Args:
          images: float32 `[batch, height, width, 3]` in [-1, 1].

        Returns:
          float32 `[batch, values]`: VGG's `pool5`, flattened.
        """
        size = self.sizes.image_size
        images = tf.ensure_shape(images, [None, size, size, 3])
        with tf1.variable_scope(ENCODER, reuse=tf1.AUTO_REUSE):
            features = vgg_features(
                images, configuration=self.sizes.configuration,
                base_width=self.sizes.base_width,
            )
        return flatten(features, name="features")

    @numbers(keep_prob=real(0, 1, above=True, tensors=True))
    def start(
        self, features: tf.Tensor, keep_prob: float | tf.Tensor = 1.0
    ) -> State:
        """Returns the decoder state after it has read the picture features.

        Args:
          features: float32 `[batch, values]`.
          keep_prob: share of the features that dropout keeps; below 1 in training.

        Returns:
          The state before the first word: per layer `h`, or `(c, h)` for an LSTM,
          each float32 `[batch, units]`.
        """
        zeros = tf.zeros([tf.shape(features)[0], self.sizes.units])
        zeros = zeros if self.sizes.cell == "gru" else (zeros, zeros)
        with self._decoder():
            shown = fully_connected_layer(
                tf.nn.dropout(features, rate=1.0 - keep_prob), self.sizes.embedding,
                name="project",
            )
        _, state = self._recur(shown, (zeros,) * self.sizes.layers)
        return state

    def embed(self, words: tf.Tensor) -> tf.Tensor:
        """Looks up the embedding vectors of word ids.

        Args:
          words: int32 `[...]`.

        Returns:
          float32 `[..., embedding]`.
        """
        with self._decoder():
            table = tf1.get_variable(
                "embedding", [self.sizes.words, self.sizes.embedding]
            )
        return tf.nn.embedding_lookup(table, words)

    def logits(self, outputs: tf.Tensor) -> tf.Tensor:
        """Projects the outputs of the recurrent layers onto the vocabulary.

        Args:
          outputs: float32 `[rows, units]`.

        Returns:
          float32 `[rows, words]`.
        """
        with self._decoder(), tf1.variable_scope("logits"):
            shape = [self.sizes.units, self.sizes.words]
            kernel = tf1.get_variable("kernel", shape)
            bias = tf1.get_variable(
                "bias", shape[1:], initializer=tf1.zeros_initializer()
            )
        return tf.matmul(outputs, kernel) + bias

    def step(self, words: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        """Runs the decoder for one word and returns the logits of the next word.

        Args:
          words: int32 `[batch]`, the ids of the last words.
          state: as `start` returns it.

        Returns:
          float32 `[batch, words]`, the logits of the next word, and the new state.
        """
        output, state = self._recur(self.embed(words), state)
        return self.logits(output), state

    @numbers(keep_prob=real(0, 1, above=True, tensors=True))
    def teach(
        self, features: tf.Tensor, inputs: tf.Tensor, keep_prob: float | tf.Tensor = 1.0
    ) -> tf.Tensor:
        """Computes the logits of each next word from the true preceding words.

        Args:
          features: float32 `[batch, values]`.
          inputs: int32 `[batch, time]`: the caption without its last id.
          keep_prob: share that dropout keeps, of features, words and outputs.

        Returns:
          float32 `[batch, time, words]`: the logits at `t` predict the target at `t`.
        """
        state = self.start(features, keep_prob)
        vectors = tf.nn.dropout(self.embed(inputs), rate=1.0 - keep_prob)
        vectors = tf.transpose(vectors, [1, 0, 2])  # [time, batch, embedding]
        first = tf.zeros([tf.shape(features)[0], self.sizes.units])
        outputs, _ = tf.scan(
            lambda carried, vector: self._recur(vector, carried[1]),
            vectors, (first, state),
        )
        outputs = tf.transpose(outputs, [1, 0, 2])  # [batch, time, units]
        outputs = tf.nn.dropout(outputs, rate=1.0 - keep_prob)
        logits = self.logits(tf.reshape(outputs, [-1, self.sizes.units]))
        shape = tf.concat([tf.shape(inputs), [self.sizes.words]], 0)
        return tf.ensure_shape(
            tf.reshape(logits, shape), [*inputs.shape, self.sizes.words]
        )

    def _recur(self, incoming, state):
        """Runs all recurrent layers for one step; returns output and new state."""
        cell = gru_cell if self.sizes.cell == "gru" else lstm_cell
        new = []
        with self._decoder():
            for layer, old in enumerate(state):
                new.append(cell(incoming, old, name=f"{self.sizes.cell}_{layer}"))
                incoming = new[-1] if self.sizes.cell == "gru" else new[-1][1]
        return incoming, tuple(new)

    def _decoder(self):
        """Opens the decoder's variable scope, which reuses existing variables."""
        return tf1.variable_scope(
            DECODER, reuse=tf1.AUTO_REUSE,
            initializer=tf1.random_uniform_initializer(-0.08, 0.08),
        )


def masked_loss(
    logits: tf.Tensor, targets: tf.Tensor, mask: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sums the cross-entropy loss over all words that are not padding.

    Args:
      logits: float32 `[batch, time, words]`.
      targets: int32 `[batch, time]`. What stands in the padding has no effect, here
        and in the logits, not even a number that is no id, or infinity.
      mask: float32 `[batch, time]`: 1 where a target counts, 0 in the padding.

    Returns:
      The summed cross-entropy in nats and the summed mask, float32 scalars. Their
      quotient is the loss of the batch; perplexity wants both sums.
    """
    # Zeros first: 0 times infinity is NaN, in the loss and in its gradient.
    counts = mask > 0
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.where(counts, targets, tf.zeros_like(targets)),
        logits=tf.where(counts[..., None], logits, tf.zeros_like(logits)),
    )
    return tf.reduce_sum(losses * mask), tf.reduce_sum(mask)


def variables_of(part: str, graph: tf.Graph | None = None) -> list[tf.Variable]:
    """Returns the trainable variables of the encoder or the decoder.

    Args:
      part: the outer scope.
      graph: the default graph if `None`.

    Raises:
      ValueError: there are none, so the part is not built yet or its name is wrong.
    """
    graph = graph or tf1.get_default_graph()
    found = graph.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES, f"{part}/")
    if not found:
        raise ValueError(f"variables_of: the graph has no variables under {part}/")
    return found


def train_op(
    loss: tf.Tensor,
    variables: list[tf.Variable],
    optimizer: tf1.train.Optimizer,
    *,
    global_step: tf.Variable | None = None,
) -> tf.Operation:
    """Builds a training op that clips the gradients to a global norm of 5.

    Either all of them move or none: clipping by the norm would spread one NaN to every
    variable, so the loss and the gradients are looked at before.

    Args:
      loss: float32 scalar.
      variables: those that move; all others are frozen.
      optimizer: applies the gradients.
      global_step: counts the updates.

    Returns:
      The op of one update.

    Raises:
      ValueError: the loss does not depend on one of the variables.
      tf.errors.InvalidArgumentError: when it runs: NaN or Inf; the error names the
        variable, and none has changed.
    """
    gradients = tf1.gradients(loss, variables)
    if lost := [v.name for v, g in zip(variables, gradients, strict=True) if g is None]:
        raise ValueError(f"train_op: the loss does not depend on {', '.join(lost)}")
    pairs = list(zip(gradients, variables, strict=True))
    pairs = process_gradient_list([pairs], losses=[loss])  # one tower, to be checked
    gradients, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 5.0)
    return optimizer.apply_gradients(
        list(zip(gradients, variables, strict=True)), global_step
    )
