"""Multi-head attention (Vaswani et al. 2017, section 3.2).

Google's code calls it `attention_layer`. The letters in shapes are Google's:

    B = batch size, the number of sequences
    F = length of `from_tensor`, the positions that attend, in WordPieces
    T = length of `to_tensor`, the positions that they attend to
    N = `num_attention_heads`
    H = `size_per_head`
"""

import math
from typing import Unpack

import keras

from modeling import ops
from modeling.arguments import LayerArguments
from modeling.dense import Dense
from modeling.row_layouts import RowLayout
from modeling.tensors import Shape, Tensor


class AttentionLayer(keras.layers.Layer):
    """Lets each position of `from_tensor` attend to all of `to_tensor`.

    The layer subtracts 10000 from masked scores instead of setting them to
    -inf, so the softmax stays finite even if all positions are masked.

    Args:
        num_attention_heads: N, at least 1.
        size_per_head: H, at least 1.
        attention_probs_dropout_prob: fraction of the attention weights to drop
            if a call passes a `seed`, in [0, 1).
        kernel_initializer: initializer of the three projections.

    Call arguments:
        from_tensor: float [B, F, width].
        to_tensor: float [B, T, width]. For self-attention, pass `from_tensor`
            again. Otherwise the two widths may differ.
        attention_mask: int [B, F, T] or [B, 1, T], 1 = position F may attend to
            position T. If None, all positions attend to all positions.
        seed: int [2] from `keras.random.SeedGenerator.next`, seed of the
            dropout. If None, the call applies no dropout.
        training: whether the call is part of a training step.
        row_layout: for self-attention on inputs flattened to R rows,
            [R, width]: where these rows lie in the batch
            (modeling/row_layouts.py). If None, both inputs have the shapes
            above.

    Returns:
        float [B, F, N * H], or [R, N * H] if `row_layout` is set.
    """

    def __init__(
        self,
        num_attention_heads: int,
        size_per_head: int,
        attention_probs_dropout_prob: float,
        kernel_initializer: keras.initializers.Initializer,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(**arguments)
        self.num_attention_heads = num_attention_heads
        self.size_per_head = size_per_head
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.query, self.key, self.value = (
            Dense(
                num_attention_heads * size_per_head,
                kernel_initializer=kernel_initializer,
                name=name,
                dtype=self.dtype_policy,
            )
            for name in ("query", "key", "value")
        )

    def build(self, from_tensor_shape: Shape, to_tensor_shape: Shape) -> None:
        """Creates the weights of the query, key and value projections."""
        self.query.build(from_tensor_shape)
        self.key.build(to_tensor_shape)
        self.value.build(to_tensor_shape)

    def call(
        self,
        from_tensor: Tensor,
        to_tensor: Tensor,
        attention_mask: Tensor | None = None,
        seed: Tensor | None = None,
        training: bool = False,
        row_layout: RowLayout | None = None,
    ) -> Tensor:
        """Computes the output of the attention layer."""
        # [B, N, F, H], [B, N, T, H] and [B, N, T, H]
        query_layer = self._split_attention_heads(
            self.query(from_tensor), row_layout, training
        )
        key_layer = self._split_attention_heads(
            self.key(to_tensor), row_layout, training
        )
        value_layer = self._split_attention_heads(
            self.value(to_tensor), row_layout, training
        )

        # [B, N, F, T]
        attention_scores = keras.ops.matmul(
            query_layer, keras.ops.swapaxes(key_layer, -1, -2)
        )
        attention_probs = ops.attention_probs(
            attention_scores,
            self._create_adder(attention_mask),
            1.0 / math.sqrt(self.size_per_head),
            self.attention_probs_dropout_prob,
            seed=seed,
        )

        # [B, N, F, H]
        context_layer = keras.ops.matmul(attention_probs, value_layer)
        return self._join_attention_heads(context_layer, row_layout, training)

    def _split_attention_heads(
        self, projected: Tensor, row_layout: RowLayout | None, training: bool
    ) -> Tensor:
        """Returns the attention heads of a projection, [B, N, length, H].

        The projection is [B, length, N * H], or its rows are [R, N * H].
        """
        if row_layout:
            projected = row_layout.from_rows(projected)
        batch_size, length = keras.ops.shape(projected)[:2]
        projected = keras.ops.reshape(
            projected,
            (batch_size, length, self.num_attention_heads, self.size_per_head),
        )
        return ops.swap_attention_heads(projected, training=training)

    def _create_adder(self, attention_mask: Tensor | None) -> Tensor:
        """Returns the tensor to add to scores: -10000 if masked, else 0.

        The adder is [B, 1, F, T], to broadcast over the heads. B, F and T are 1
        where the adder does not vary.
        """
        dtype = keras.backend.result_type(self.compute_dtype, "float32")
        if attention_mask is None:
            return keras.ops.zeros((1, 1, 1, 1), dtype)
        mask = keras.ops.cast(attention_mask, dtype)
        return keras.ops.expand_dims((1.0 - mask) * -10000.0, 1)

    def _join_attention_heads(
        self,
        context_layer: Tensor,
        row_layout: RowLayout | None,
        training: bool,
    ) -> Tensor:
        """Returns the heads [B, N, F, H] side by side, [B, F, N * H].

        If `row_layout` is set, returns its rows, [R, N * H].
        """
        joined = ops.swap_attention_heads(context_layer, training=training)
        width = self.num_attention_heads * self.size_per_head
        joined = keras.ops.reshape(
            joined, (*keras.ops.shape(joined)[:2], width)
        )
        return row_layout.to_rows(joined) if row_layout else joined
