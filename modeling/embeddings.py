"""Input embeddings (Devlin et al. 2019, section 3): word + position + segment.

In shapes, B = batch, T = length in WordPieces and W = hidden size.
"""

from typing import Unpack

import keras

from model_folders.bert_config import BertConfig
from modeling import ops
from modeling.arguments import LayerArguments
from modeling.features import to_integer_ids
from modeling.layers import BertLayer
from modeling.tensors import Shape, Tensor


class Embeddings(BertLayer):
    """Sums three learned embeddings of each WordPiece, then normalizes.

    Args:
        config: sizes and dropout rates of the network.
        initializer: initializer of the three tables.
        use_one_hot_embeddings: look up word embeddings by multiplying one-hot
            rows with the table (faster on some accelerators) instead of by a
            gather.

    Call arguments:
        input_ids: int [B, T], each in [0, vocab_size).
        token_type_ids: int [B, T], each in [0, type_vocab_size).
        seed: int [2], seed of the dropout. If None, the call applies no
            dropout.
        training: whether the call is part of a training step.

    Returns:
        float [B, T, W].

    Raises:
        ValueError: T is larger than the number of positions.
    """

    def __init__(
        self,
        config: BertConfig,
        initializer: keras.initializers.Initializer,
        use_one_hot_embeddings: bool = False,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(config, initializer, **arguments)
        self.use_one_hot_embeddings = use_one_hot_embeddings
        self.layer_norm = self.create_layer_norm()

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates the three tables and the weights of the normalization."""
        config = self.config
        self.word_embeddings = self._add_table("word", config.vocab_size)
        self.token_type_embeddings = self._add_table(
            "token_type", config.type_vocab_size
        )
        self.position_embeddings = self._add_table(
            "position", config.max_position_embeddings
        )
        self.layer_norm.build((None, None, config.hidden_size))

    def _add_table(self, name: str, num_rows: int) -> keras.Variable:
        """Creates the table of words, of positions or of segments."""
        # Do not cast the whole table under mixed precision. The cast would turn
        # the sparse gradient of the used rows into a dense one.
        return self.add_weight(
            shape=(num_rows, self.config.hidden_size),
            initializer=self.initializer,
            autocast=False,
            name=f"{name}_embeddings",
        )

    def call(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor,
        seed: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        """Computes the embeddings of a batch, float [B, T, W]."""
        input_ids = to_integer_ids(
            input_ids, "input_ids", self.config.vocab_size
        )
        token_type_ids = to_integer_ids(
            token_type_ids, "segment_ids", self.config.type_vocab_size
        )
        if self.use_one_hot_embeddings:
            words = self._multiply_one_hot(input_ids, self.word_embeddings)
        else:
            words = ops.look_up(self.word_embeddings, input_ids)
        # For few segments, multiplying one-hot vectors with the table is faster
        # than a gather.
        token_types = self._multiply_one_hot(
            token_type_ids, self.token_type_embeddings
        )
        positions = self._look_up_positions(keras.ops.shape(input_ids)[1])
        embeddings = ops.layer_norm(
            words + token_types + positions, self.layer_norm, training=training
        )
        return ops.dropout(
            embeddings, self.config.hidden_dropout_prob, seed=seed
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Returns the shape of the embeddings, [B, T, W]."""
        return (*input_shape, self.config.hidden_size)

    def _look_up_positions(self, seq_length: int | Tensor) -> Tensor:
        """Returns the embeddings of the first positions, [T, W]."""
        num_positions = self.config.max_position_embeddings
        # In a graph that accepts any length, the length is a tensor.
        if isinstance(seq_length, int) and seq_length > num_positions:
            raise ValueError(
                f"A row of {seq_length} ids, but {num_positions} positions in "
                f"the model. Shorten each row to {num_positions} ids or fewer"
            )
        return self.position_embeddings[:seq_length]

    def _multiply_one_hot(self, ids: Tensor, table: Tensor) -> Tensor:
        """Returns the rows [B, T, W] of a table [V, W] at ids [B, T]."""
        one_hot = keras.ops.one_hot(ids, table.shape[0], dtype=table.dtype)
        return keras.ops.matmul(one_hot, table)
