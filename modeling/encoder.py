"""The Transformer encoder of BERT (Vaswani et al. 2017, section 3.1).

`Transformer` is a stack of blocks. A `TransformerBlock` is multi-head attention
(section 3.2), which Google's code calls `attention_layer`, and a feed-forward
layer. Layer normalization follows each residual sum (post-LN). In shapes:

    B = batch size, the number of sequences
    F = length of `from_tensor`, the positions that attend, in WordPieces
    T = length of `to_tensor`, the positions that they attend to
    N = `num_attention_heads`
    H = `size_per_head`
    R = number of rows (see row_layouts.py)
    W = hidden size
"""

import functools
import math
from collections.abc import Callable
from typing import Unpack

import keras

from model_folders.bert_config import BertConfig
from modeling import ops
from modeling.layers import BertLayer, LayerArguments
from modeling.ops import dropout_seed
from modeling.row_layouts import Layout, PackedLayout, PaddedLayout
from modeling.tensors import Shape, Tensor


class _DenseArguments(LayerArguments, total=False):
    """Arguments of `keras.layers.Dense` that our `Dense` accepts."""

    kernel_initializer: keras.initializers.Initializer


class Dense(keras.layers.Dense):
    """A dense layer and its activation, computed by modeling/ops.py.

    Args:
        units: width of the outputs.
        hidden_act: key of `plain_ops.ACTIVATIONS`. If None, the layer applies
            no activation.
        **arguments: those of `keras.layers.Dense`.

    Call arguments:
        inputs: float [..., W].
        training: whether the call is part of a training step.
    """

    def __init__(
        self,
        units: int,
        hidden_act: str | None = None,
        **arguments: Unpack[_DenseArguments],
    ) -> None:
        super().__init__(units, **arguments)
        self.hidden_act = hidden_act

    def __call__(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Computes the dense layer and its activation, float [..., units]."""
        outputs = super().__call__(inputs, training=training)
        # Apply the activation outside the layer's name scope. TensorFlow's
        # graph optimizer sorts the terms of sums by name, so other names would
        # change the last bits of the trained weights.
        if self.hidden_act is None:
            return outputs
        return ops.activation(outputs, self.hidden_act, training=training)

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Computes the layer without its activation, float [..., units]."""
        return ops.dense(inputs, self.kernel, self.bias)

    def quantize(
        self, mode: str, type_check: bool = True, config: object = None
    ) -> None:
        """Quantizes the kernel as Keras does, which skips subclasses."""
        super().quantize(mode, type_check=False, config=config)


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
        layout: for self-attention on inputs flattened to R rows, [R, width]:
            the `Layout` (see modeling/row_layouts.py) of these rows. If None,
            both inputs have the shapes above.

    Returns:
        float [B, F, N * H], or [R, N * H] if `layout` is set.
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
        layout: Layout | None = None,
    ) -> Tensor:
        """Computes the output of the attention layer."""
        # [B, N, F, H], [B, N, T, H] and [B, N, T, H]
        query_layer = self._split_attention_heads(
            self.query(from_tensor), layout, training
        )
        key_layer = self._split_attention_heads(
            self.key(to_tensor), layout, training
        )
        value_layer = self._split_attention_heads(
            self.value(to_tensor), layout, training
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
        return self._join_attention_heads(context_layer, layout, training)

    def _split_attention_heads(
        self, projected: Tensor, layout: Layout | None, training: bool
    ) -> Tensor:
        """Returns the attention heads of a projection, [B, N, length, H].

        The projection is [B, length, N * H], or its rows are [R, N * H].
        """
        if layout:
            projected = layout.from_rows(projected)
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
        self, context_layer: Tensor, layout: Layout | None, training: bool
    ) -> Tensor:
        """Returns the heads [B, N, F, H] side by side, [B, F, N * H].

        If `layout` is set, returns its rows, [R, N * H].
        """
        joined = ops.swap_attention_heads(context_layer, training=training)
        width = self.num_attention_heads * self.size_per_head
        joined = keras.ops.reshape(
            joined, (*keras.ops.shape(joined)[:2], width)
        )
        return layout.to_rows(joined) if layout else joined


class TransformerBlock(BertLayer):
    """Applies self-attention, then a feed-forward layer.

    Dropout, the residual sum and a layer normalization follow each of these
    two. The block is a pure function of its inputs and `seed`, so that the
    backward pass can recompute it with the same dropout.

    Call arguments (`AttentionLayer` describes the others):
        inputs: float [R, W] with `layout`, float [B, F, W] without.
        seed: int [2], seed of the block's first dropout. The seeds of the other
            dropouts are derived from it.

    Returns:
        float, the block's output, in the shape of `inputs`.
    """

    num_dropouts = 3

    def __init__(
        self,
        config: BertConfig,
        initializer: keras.initializers.Initializer,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(config, initializer, **arguments)
        if config.hidden_size % config.num_attention_heads:
            raise ValueError(
                f"hidden_size={config.hidden_size} must be a multiple of "
                f"num_attention_heads={config.num_attention_heads}; correct "
                "the configuration"
            )
        self.attention = AttentionLayer(
            config.num_attention_heads,
            config.hidden_size // config.num_attention_heads,
            config.attention_probs_dropout_prob,
            self.initializer,
            name="self",
            dtype=self.dtype_policy,
        )
        self.attention_output = self._create_dense(config.hidden_size)
        self.attention_layer_norm = self.create_layer_norm()
        self.intermediate = self._create_dense(
            config.intermediate_size, config.hidden_act
        )
        self.output_dense = self._create_dense(config.hidden_size)
        self.output_layer_norm = self.create_layer_norm()

    def _create_dense(self, units: int, hidden_act: str | None = None) -> Dense:
        return Dense(
            units,
            hidden_act or None,
            kernel_initializer=self.initializer,
            name="dense",
            dtype=self.dtype_policy,
        )

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates all weights, named as in Google's checkpoints."""
        hidden = (None, None, self.config.hidden_size)
        with keras.name_scope("attention"):
            self.attention.build(hidden, hidden)
            with keras.name_scope("output"):
                self.attention_output.build(hidden)
                self.attention_layer_norm.build(hidden)
        with keras.name_scope("intermediate"):
            self.intermediate.build(hidden)
        with keras.name_scope("output"):
            self.output_dense.build((None, None, self.config.intermediate_size))
            self.output_layer_norm.build(hidden)

    def call(
        self,
        inputs: Tensor,
        layout: Layout | None = None,
        attention_mask: Tensor | None = None,
        seed: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        """Applies attention, then the feed-forward layer."""
        attention_output = self.attention(
            inputs,
            inputs,
            attention_mask,
            seed=seed,
            training=training,
            layout=layout,
        )
        attention_output = ops.dropout_add_norm(
            self.attention_output(attention_output),
            inputs,
            self.attention_layer_norm,
            self.config.hidden_dropout_prob,
            seed=dropout_seed(seed, 1),
        )
        intermediate_output = self.intermediate(
            attention_output, training=training
        )
        return ops.dropout_add_norm(
            self.output_dense(intermediate_output),
            attention_output,
            self.output_layer_norm,
            self.config.hidden_dropout_prob,
            seed=dropout_seed(seed, 2),
        )


class Transformer(BertLayer):
    """A stack of `num_hidden_layers` blocks, each with its own weights.

    Args:
        config: sizes and dropout rates of the network.
        initializer: initializer of the kernels.
        gradient_checkpointing: keep only each block's input, and recompute the
            other activations in the backward pass. A training step then takes
            about a third longer, but uses much less memory.

    Call arguments (`AttentionLayer` describes the others):
        inputs: float [B, F, W].
        seed: int [2], seed of all dropout in this call. If None, the call
            applies no dropout.
        layout: `TrimmedLayout`, if the blocks should compute no padding.
            Outputs at padding are then meaningless. If None, the blocks compute
            padding too.
        packed_layout: where attention packs the rows of `layout`. Other layers
            use `layout`, and `attention_mask` must be [S, F, F] for S packed
            sequences. If None, attention uses `layout`.

    Returns:
        list of each block's output, float [B, F, W].
    """

    def __init__(
        self,
        config: BertConfig,
        initializer: keras.initializers.Initializer,
        gradient_checkpointing: bool = False,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(config, initializer, **arguments)
        self.gradient_checkpointing = gradient_checkpointing
        self.blocks = [
            TransformerBlock(
                config,
                self.initializer,
                name=f"layer_{index}",
                dtype=self.dtype_policy,
            )
            for index in range(config.num_hidden_layers)
        ]

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates the weights of all blocks."""
        for block in self.blocks:
            block.build()

    def call(
        self,
        inputs: Tensor,
        attention_mask: Tensor | None = None,
        seed: Tensor | None = None,
        training: bool = False,
        layout: Layout | None = None,
        packed_layout: PackedLayout | None = None,
    ) -> list[Tensor]:
        """Applies all blocks, each to the output of the block before it."""
        # Only faster versions need rows, so in plain mode keep [B, T, W].
        if layout is None and not ops.uses_plain_versions():
            layout = PaddedLayout(inputs)
        if layout:
            inputs = layout.to_rows(inputs)

        def apply_block(
            block: TransformerBlock, seed: Tensor | None, inputs: Tensor
        ) -> Tensor:
            return block(
                inputs,
                layout=packed_layout or layout,
                attention_mask=attention_mask,
                seed=seed,
                training=training,
            )

        apply_block = ops.trace_once(
            apply_block, self.blocks, training=training
        )
        all_encoder_layers = []
        for index, block in enumerate(self.blocks):
            # Begin with dropout index 1, because the embeddings use index 0.
            first = 1 + index * block.num_dropouts
            apply_this: Callable[[Tensor], Tensor] = functools.partial(
                apply_block, block, dropout_seed(seed, first)
            )
            if self.gradient_checkpointing and training:
                apply_this = keras.remat(apply_this)
            inputs = apply_this(inputs)
            all_encoder_layers.append(
                layout.from_rows(inputs) if layout else inputs
            )
        return all_encoder_layers

    @property
    def output_shape(self) -> Shape:
        """The shape of each block's output, which `summary` shows."""
        return None, None, self.config.hidden_size
