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
      words: Number of words in the vocabulary.
      image_size: Height and width of the pictures.
      configuration: VGG configuration, a key of `vgg.CONFIGURATIONS`.
      base_width: Number of kernels in the first VGG block.
      embedding: Length of the word vectors and of the projected picture.
      units: Number of outputs of each recurrent layer.
      layers: Number of stacked recurrent layers.
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

    The picture is the first input of the decoder: the recurrent network starts with a
    state of zeros, makes one step on the picture, and its output is discarded. Each
    word is a further step of the same network, so all steps share their variables.

    Attributes:
      sizes: The sizes with which the model was built.

    Source: Vinyals, Toshev, Bengio, Erhan, "Show and Tell", 2015.
    """

    def __init__(self, sizes: Sizes):
        self.sizes = sizes

    def encode(self, images: tf.Tensor) -> tf.Tensor:
        """Computes the VGG features of a batch of pictures.

        Args:
          images: Pictures, float32 `[batch, height, width, 3]` in [-1, 1].

        Returns:
          The flattened output of VGG's layer `pool5`, float32 `[batch, values]`.
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
          features: Picture features, float32 `[batch, values]`.
          keep_prob: Share of the features that dropout keeps. Use a value below 1 in
            training.

        Returns:
          The state before the first word. Each layer has a state `h`, or `(c, h)` for
          an LSTM, each float32 `[batch, units]`.
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
          words: Word ids, int32 `[...]`.

        Returns:
          Word vectors, float32 `[..., embedding]`.
        """
        with self._decoder():
            table = tf1.get_variable(
                "embedding", [self.sizes.words, self.sizes.embedding]
            )
        return tf.nn.embedding_lookup(table, words)

    def logits(self, outputs: tf.Tensor) -> tf.Tensor:
        """Projects the outputs of the recurrent layers onto the vocabulary.

        Args:
          outputs: Outputs of the last recurrent layer, float32 `[rows, units]`.

        Returns:
          Logits, float32 `[rows, words]`.
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

        The search functions call this method.

        Args:
          words: Ids of the previous words, int32 `[batch]`.
          state: Decoder state, as returned by `start`.

        Returns:
          The logits of the next word, float32 `[batch, words]`, and the new state.
        """
        output, state = self._recur(self.embed(words), state)
        return self.logits(output), state

    @numbers(keep_prob=real(0, 1, above=True, tensors=True))
    def teach(
        self, features: tf.Tensor, inputs: tf.Tensor, keep_prob: float | tf.Tensor = 1.0
    ) -> tf.Tensor:
        """Computes the logits of each next word from the true preceding words.

        Args:
          features: Picture features, float32 `[batch, values]`.
          inputs: Captions without their last id, int32 `[batch, time]`.
          keep_prob: Share of the features, word vectors, and outputs that dropout
            keeps.

        Returns:
          Logits, float32 `[batch, time, words]`. The logits at time `t` predict the
          target at time `t`.
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
      logits: Logits, float32 `[batch, time, words]`.
      targets: Word ids, int32 `[batch, time]`. Padded positions may contain any value,
        here and in the logits, even an invalid id or infinity.
      mask: float32 `[batch, time]`, 1 where a target counts and 0 in the padding.

    Returns:
      The summed cross-entropy in nats and the summed mask, both float32 scalars. Their
      quotient is the loss of the batch. To compute the perplexity, add up both sums
      over all batches.
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
      part: `"encoder"` or `"decoder"`, the outermost variable scope.
      graph: Graph with the variables. Default: the default graph.

    Raises:
      ValueError: If there are no such variables, because the part has not been built or
        its name is wrong.
    """
    graph = graph or tf1.get_default_graph()
    variables = graph.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES, f"{part}/")
    if not variables:
        raise ValueError(
            f"The graph has no trainable variables under {part}/. Build this part of "
            "the model before calling variables_of."
        )
    return variables


def train_op(
    loss: tf.Tensor,
    variables: list[tf.Variable],
    optimizer: tf1.train.Optimizer,
    *,
    global_step: tf.Variable | None = None,
) -> tf.Operation:
    """Builds a training op that clips the gradients to a global norm of 5.

    The update changes all variables or none. Clipping by the global norm would spread a
    single NaN to every variable, so the loss and the gradients are checked first.

    Args:
      loss: Loss, float32 scalar.
      variables: Variables to update. All others stay unchanged.
      optimizer: Optimizer that applies the gradients.
      global_step: Variable that counts the updates.

    Returns:
      The op of one update.

    Raises:
      ValueError: If the loss does not depend on one of the variables.
      tf.errors.InvalidArgumentError: At run time, if the loss or a gradient is NaN or
        infinite. The error names the variable, and no variable has changed.
    """
    gradients = tf1.gradients(loss, variables)
    if lost := [v.name for v, g in zip(variables, gradients, strict=True) if g is None]:
        names = ", ".join(lost)
        raise ValueError(
            f"The loss does not depend on these variables: {names}. Remove them from "
            "the list passed to train_op."
        )
    pairs = list(zip(gradients, variables, strict=True))
    pairs = process_gradient_list([pairs], losses=[loss])  # one tower, for the checks
    gradients, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 5.0)
    return optimizer.apply_gradients(
        list(zip(gradients, variables, strict=True)), global_step
    )
