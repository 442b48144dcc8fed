"""The Transformer encoder (Vaswani et al. 2017, section 3.1) of BERT.

Layer normalization follows each residual sum (post-LN). In shapes, B = batch,
T = length in WordPieces, R = number of rows (see row_layouts.py) and W = hidden
size.
"""

import functools
from collections.abc import Callable
from typing import Unpack

import keras

from model_folders.bert_config import BertConfig
from modeling import ops
from modeling.arguments import LayerArguments
from modeling.attention import AttentionLayer
from modeling.dense import Dense
from modeling.layers import BertLayer
from modeling.ops import dropout_seed
from modeling.packing import PackedRowLayout
from modeling.row_layouts import PaddedRowLayout, RowLayout
from modeling.tensors import Shape, Tensor


class TransformerBlock(BertLayer):
    """Applies self-attention, then a feed-forward layer.

    Dropout, the residual sum and a layer normalization follow each of these
    two. The block is a pure function of its inputs and `seed`, so that the
    backward pass can recompute it with the same dropout.

    Call arguments (`AttentionLayer` describes the others):
        inputs: float [R, W] with `row_layout`, float [B, T, W] without.
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
        row_layout: RowLayout | None = None,
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
            row_layout=row_layout,
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
        inputs: float [B, T, W].
        seed: int [2], seed of all dropout in this call. If None, the call
            applies no dropout.
        row_layout: `TrimmedRowLayout`, if the blocks should compute no padding.
            Outputs at padding are then meaningless. If None, the blocks compute
            padding too.
        packed_row_layout: where attention packs the rows of `row_layout`. Other
            layers use `row_layout`, and `attention_mask` must be [S, T, T] for
            S packed sequences. If None, attention uses `row_layout`.

    Returns:
        list of each block's output, float [B, T, W].
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
        row_layout: RowLayout | None = None,
        packed_row_layout: PackedRowLayout | None = None,
    ) -> list[Tensor]:
        """Applies all blocks, each to the output of the block before it."""
        # Only faster versions need rows, so in plain mode keep [B, T, W].
        if row_layout is None and not ops.uses_plain_versions():
            row_layout = PaddedRowLayout(inputs)
        if row_layout:
            inputs = row_layout.to_rows(inputs)

        def apply_block(
            block: TransformerBlock, seed: Tensor | None, inputs: Tensor
        ) -> Tensor:
            return block(
                inputs,
                row_layout=packed_row_layout or row_layout,
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
                row_layout.from_rows(inputs) if row_layout else inputs
            )
        return all_encoder_layers

    @property
    def output_shape(self) -> Shape:
        """The shape of each block's output, which `summary` shows."""
        return None, None, self.config.hidden_size
