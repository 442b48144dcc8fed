"""The heads on top of the encoder (Devlin et al. 2019, sections 3.1 and 4).

In shapes, B = batch, T = length in WordPieces, P = number of masked positions,
W = hidden size and V = vocabulary size.
"""

from typing import Unpack

import keras

from model_folders.bert_config import BertConfig
from modeling.arguments import LayerArguments
from modeling.layers import BertLayer
from modeling.ops import dense
from modeling.plain_ops import ACTIVATIONS
from modeling.sequence_ops import gather_vectors, last_positions
from modeling.tensors import Shape, Tensor


class OutputHead(keras.layers.Layer):
    """A linear layer that stores its kernel transposed, as Google's code does.

    Args:
        num_outputs: number of logits.
        initializer: initializer of `output_weights` [num_outputs, W].

    Call arguments:
        inputs: float [..., W].

    Returns:
        logits, float [..., num_outputs].
    """

    def __init__(
        self,
        num_outputs: int,
        initializer: keras.initializers.Initializer,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(**arguments)
        self.num_outputs = num_outputs
        self.initializer = initializer

    def build(self, input_shape: Shape) -> None:
        """Creates `output_weights` and `output_bias`."""
        self.output_weights = self.add_weight(
            shape=(self.num_outputs, input_shape[-1]),
            initializer=self.initializer,
            name="output_weights",
        )
        self.output_bias = self.add_weight(
            shape=(self.num_outputs,), initializer="zeros", name="output_bias"
        )

    def call(self, inputs: Tensor) -> Tensor:
        """Returns the logits of `inputs`, float [..., num_outputs]."""
        kernel = keras.ops.transpose(self.output_weights)
        return keras.ops.matmul(inputs, kernel) + self.output_bias

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Returns the shape of the logits, [..., number of outputs]."""
        return (*input_shape[:-1], self.num_outputs)


class BidirectionalLSTM(keras.layers.Layer):
    """An LSTM in each direction over the encoder's output (paper, section 5.1).

    With this layer, a left-to-right encoder can use later positions too.

    Args:
        hidden_size: W, an even number. Each direction has W / 2 units.
        seed_generator: `keras.random.SeedGenerator` of the initial weights.

    Call arguments:
        inputs: float [B, T, W].
        input_mask: int [B, T], 1 = a WordPiece, 0 = padding. If None, all
            positions contain WordPieces.

    Returns:
        (sequence_output, pooled_output): float [B, T, W] and [B, W]. The pooled
        output concatenates the last output of each direction.
    """

    def __init__(
        self,
        hidden_size: int,
        seed_generator: keras.random.SeedGenerator | None = None,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(**arguments)
        self.hidden_size = hidden_size
        initializers = keras.initializers
        half = keras.layers.LSTM(
            hidden_size // 2,
            kernel_initializer=initializers.GlorotUniform(seed_generator),
            recurrent_initializer=initializers.Orthogonal(seed=seed_generator),
            return_sequences=True,
            name="lstm",
            dtype=self.dtype_policy,
        )
        self.both = keras.layers.Bidirectional(
            half, name="bidirectional", dtype=self.dtype_policy
        )

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates the weights of both directions."""
        self.both.build((None, None, self.hidden_size))

    def call(
        self, inputs: Tensor, input_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns (sequence_output [B, T, W], pooled_output [B, W])."""
        half = self.hidden_size // 2
        if input_mask is None:
            outputs = self.both(inputs)
            last = outputs[:, -1]
        else:
            mask = keras.ops.cast(input_mask, "bool")
            # Copy the outputs to remove the mask that Keras attaches.
            outputs = keras.ops.copy(self.both(inputs, mask=mask))
            last = gather_vectors(outputs, last_positions(input_mask))
        ends = [last[:, :half], outputs[:, 0, half:]]
        return outputs, keras.ops.concatenate(ends, -1)

    def compute_output_shape(self, input_shape: Shape) -> tuple[Shape, Shape]:
        """Returns [B, T, W] of all positions, and [B, W] of both ends."""
        return input_shape, (input_shape[0], self.hidden_size)


class MaskedLanguageModelHead(BertLayer):
    """Predicts the WordPieces at masked positions (paper, section 3.1, task 1).

    Applies a dense layer and a normalization, multiplies by the word
    embeddings, and adds a bias for each WordPiece.

    Call arguments:
        inputs: float [B, P, W], the encoder's output at the masked positions.
        word_embeddings: float [V, W].

    Returns:
        logits, float [B, P, V].
    """

    def __init__(
        self,
        config: BertConfig,
        initializer: keras.initializers.Initializer,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(config, initializer, **arguments)
        self.dense = keras.layers.Dense(
            config.hidden_size,
            activation=ACTIVATIONS[config.hidden_act or "linear"],
            kernel_initializer=self.initializer,
            name="dense",
            dtype=self.dtype_policy,
        )
        self.layer_norm = self.create_layer_norm()

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates the weights, including the output bias."""
        hidden = (None, None, self.config.hidden_size)
        with keras.name_scope("transform"):
            self.dense.build(hidden)
            self.layer_norm.build(hidden)
        self.output_bias = self.add_weight(
            shape=(self.config.vocab_size,),
            initializer="zeros",
            name="output_bias",
        )

    def call(self, inputs: Tensor, word_embeddings: Tensor) -> Tensor:
        """Returns the logits at each masked position, float [B, P, V]."""
        transformed = self.layer_norm(self.dense(inputs))
        kernel = keras.ops.transpose(
            keras.ops.cast(word_embeddings, transformed.dtype)
        )
        bias = keras.ops.cast(self.output_bias, transformed.dtype)
        return dense(transformed, kernel, bias)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Returns the shape of the logits, [B, P, V]."""
        return (*input_shape[:-1], self.config.vocab_size)
