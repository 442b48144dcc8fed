"""The BERT encoder (Devlin et al. 2019), Google's `BertModel`.

The letters in shapes are Google's:

    B = batch size, the number of sequences
    T = length in WordPieces
    N = `num_attention_heads`
    H = size per head. The hidden size is W = N * H.
"""

import contextlib
from collections.abc import Mapping
from typing import TypedDict

import keras

from files.json_files import JsonObject
from model_folders.bert_config import BertConfig, check_config
from modeling.base_model import BaseModel
from modeling.embeddings import Embeddings
from modeling.encoder import Transformer
from modeling.initializers import TruncatedNormal
from modeling.keras_export import to_functional_model
from modeling.ops import dropout_seed
from modeling.packing import PackedRowLayout
from modeling.row_layouts import TrimmedRowLayout
from modeling.sequence_ops import (
    attended_positions,
    create_attention_mask_from_input_mask,
    gather_vectors,
    last_positions,
)
from modeling.tensors import Features, Shape, Tensor


class EncoderOutputs(TypedDict):
    """The outputs of `BertModel`, whose docstring states their shapes."""

    embedding_output: Tensor
    all_encoder_layers: list[Tensor]
    sequence_output: Tensor
    pooled_output: Tensor


@keras.saving.register_keras_serializable(package="bert")
class BertModel(BaseModel):
    """Encodes a batch of WordPiece sequences.

    With `trim_padding`, a call that passes an `input_mask` of rank 2 computes
    no padding. Outputs at padding are then meaningless, and all other outputs
    change only by rounding. In training, the call also packs short sequences
    together for attention. The number of positions that are not padding varies,
    so `trim_padding` does not work where JAX traces, for example under
    `jax.jit` or in a functional model.

    Examples:
        Encodes "[CLS] the boat is old . [SEP]" and one position of padding:

        ```python
        input_ids = np.array([[101, 1996, 4049, 2003, 2214, 1012, 102, 0]])
        input_mask = np.array([[1, 1, 1, 1, 1, 1, 1, 0]])
        outputs = BertModel(config)(input_ids, input_mask)
        outputs["pooled_output"]  # [1, hidden_size]
        ```

    Args:
        config: sizes and dropout rates of the network.
        use_one_hot_embeddings: look up word embeddings by multiplying one-hot
            vectors with the table instead of by a gather.
        gradient_checkpointing: recompute each block's activations in the
            backward pass instead of keeping them.
        left_to_right: let each position attend only to itself and earlier
            positions (ablation in section 5.1 of the paper). The model then
            pools the last WordPiece, which attends to all other WordPieces,
            instead of the first.
        trim_padding: compute no padding, as described above.
        seed: int, seed of the initial weights and of all dropout. If None, the
            seed is random.
        name: name of the model. Checkpoints name the variables `bert/...` with
            any name.
        dtype: policy, such as `"mixed_bfloat16"` or `"float64"`. If None, the
            model uses the policy that is set in Keras.
        trainable: False freezes all weights.

    Call arguments:
        input_ids: int [B, T], with T at most `max_position_embeddings`, or a
            dict of features: `input_ids`, and optionally `input_mask` and
            `segment_ids`.
        input_mask: int [B, T], 1 = a WordPiece, 0 = padding, or int [B, T, T],
            where 1 in row i and column j = position i may attend to position j.
            If None, all positions contain WordPieces.
        token_type_ids: int [B, T], segment of each WordPiece. If None, all
            segments are 0.
        training: apply dropout.
        seed: int [2], seed of all dropout in this call. To derive a head's
            dropout from the same seed, get a seed from `draw_seed` and pass it
            here. If None, the call draws a new seed.

    Returns:
        dict of float tensors: `embedding_output` [B, T, W],
        `all_encoder_layers`, list of each block's output [B, T, W],
        `sequence_output` [B, T, W], the output of the last block, and
        `pooled_output` [B, W], a tanh layer over the first WordPiece, [CLS].

    Raises:
        TypeError: `config` is not a BertConfig.
        ValueError: the shape of an input does not match `input_ids`.
    """

    embeds_texts = True

    def __init__(
        self,
        config: BertConfig,
        *,
        use_one_hot_embeddings: bool = False,
        gradient_checkpointing: bool = False,
        left_to_right: bool = False,
        trim_padding: bool = False,
        seed: int | None = None,
        name: str = "bert",
        dtype: str | keras.DTypePolicy | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(name=name, dtype=dtype, trainable=trainable)
        check_config(config)
        self.config = config
        self.use_one_hot_embeddings = use_one_hot_embeddings
        self.gradient_checkpointing = gradient_checkpointing
        self.left_to_right = left_to_right
        self.trim_padding = trim_padding
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(
            seed, name="seed_generator"
        )
        # Each use of the initializer draws a new seed from the generator.
        self.initializer = TruncatedNormal(
            stddev=config.initializer_range, seed=self.seed_generator
        )
        self.embeddings = Embeddings(
            config,
            self.initializer,
            use_one_hot_embeddings,
            name="embeddings",
            dtype=self.dtype_policy,
        )
        self.encoder = Transformer(
            config,
            self.initializer,
            gradient_checkpointing,
            name="encoder",
            dtype=self.dtype_policy,
        )
        self.pooler = keras.layers.Dense(
            config.hidden_size,
            activation="tanh",
            kernel_initializer=self.initializer,
            name="dense",
            dtype=self.dtype_policy,
        )

    @property
    def output_shape(self) -> Shape:
        """The shape of `sequence_output`, which `summary` shows."""
        return self.encoder.output_shape

    @property
    def num_dropouts(self) -> int:
        """Number of dropout calls in one forward pass of the encoder.

        This number is the index of a head's first dropout call, by which
        `ops.dropout_seed` derives the call's seed.
        """
        blocks = self.encoder.blocks
        return 1 + len(blocks) * blocks[0].num_dropouts

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates all weights. Ignores `input_shape`."""
        # Name the variables `bert/...` as in released checkpoints, even if the
        # model has another name.
        named_bert = self.name == "bert"
        scope = contextlib.nullcontext if named_bert else keras.name_scope
        with scope("bert"):
            self.embeddings.build((None, None))
            self.encoder.build((None, None, self.config.hidden_size))
            with keras.name_scope("pooler"):
                self.pooler.build((None, self.config.hidden_size))

    def draw_seed(self) -> Tensor:
        """Returns a new seed, int [2], for the dropout of a call."""
        return self.seed_generator.next()

    def choose_seed(
        self, seed: Tensor | None, *, training: bool
    ) -> Tensor | None:
        """Returns the seed of all dropout in a call, None in inference.

        Args:
            seed: int [2], seed that the caller passed, None to draw a new seed.
            training: whether the call applies dropout.
        """
        if not training:
            return None
        return self.draw_seed() if seed is None else seed

    def call(
        self,
        input_ids: Tensor | Features,
        input_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        training: bool = False,
        seed: Tensor | None = None,
    ) -> EncoderOutputs:
        """Encodes a batch of WordPiece sequences.

        Raises:
            ValueError: a feature is missing or unknown, its shape does not
                match `input_ids`, or the call passes both a dict and other
                tensors.
        """
        input_ids, input_mask, token_type_ids = self._read_inputs(
            input_ids, input_mask, token_type_ids
        )
        row_layout, packed_row_layout = self._create_row_layouts(
            input_mask, training
        )
        if packed_row_layout is not None:
            attended = packed_row_layout.attention_mask
        elif input_mask is not None:
            attended = input_mask
        else:
            attended = keras.ops.ones_like(input_ids)
        if token_type_ids is None:
            token_type_ids = keras.ops.zeros_like(input_ids)
        seed = self.choose_seed(seed, training=training)
        embedding_output = self.embeddings(
            input_ids,
            token_type_ids,
            seed=dropout_seed(seed, 0),
            training=training,
        )
        block_outputs = self.encoder(
            embedding_output,
            create_attention_mask_from_input_mask(attended, self.left_to_right),
            seed=seed,
            training=training,
            row_layout=row_layout,
            packed_row_layout=packed_row_layout,
        )
        return {
            "embedding_output": embedding_output,
            "all_encoder_layers": block_outputs,
            "sequence_output": block_outputs[-1],
            "pooled_output": self._pool(block_outputs[-1], input_mask),
        }

    def _read_inputs(
        self,
        input_ids: Tensor | Features,
        input_mask: Tensor | None,
        token_type_ids: Tensor | None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Returns the ids, mask and segments of a call, after checking them.

        The call passes them in a dict, or each as an argument.
        """
        if isinstance(input_ids, Mapping):
            features = input_ids
            if not (input_mask is None and token_type_ids is None):
                raise ValueError(
                    "Pass all features in the dict, or each as an argument. "
                    "Received: a dict and other tensors"
                )
            self.check_features(features)
            input_ids = features["input_ids"]
            input_mask = features.get("input_mask")
            token_type_ids = features.get("segment_ids")
        _check_same_shape("input_mask", input_mask, input_ids)
        _check_same_shape("token_type_ids", token_type_ids, input_ids)
        return input_ids, input_mask, token_type_ids

    def _create_row_layouts(
        self, input_mask: Tensor | None, training: bool
    ) -> tuple[TrimmedRowLayout | None, PackedRowLayout | None]:
        """Returns the layouts of a batch, trimmed and packed.

        Both results are None if the call also computes padding. Only the second
        result is None if attention does not pack the sequences of this call.
        """
        if (
            not self.trim_padding
            or input_mask is None
            or len(input_mask.shape) != 2
        ):
            return None, None
        row_layout = TrimmedRowLayout(input_mask)
        # Pack only in training. Packed sequences need a larger mask, [S, T, T]
        # instead of [B, 1, T], which slows down inference.
        return row_layout, PackedRowLayout(row_layout) if training else None

    def _pool(
        self, sequence_output: Tensor, input_mask: Tensor | None
    ) -> Tensor:
        """Returns `pooled_output`, float [B, W]: a layer over one WordPiece."""
        if not self.left_to_right:
            vector = sequence_output[:, 0]
        elif input_mask is None:
            vector = sequence_output[:, -1]
        else:
            last = last_positions(attended_positions(input_mask))
            vector = gather_vectors(sequence_output, last)
        return self.pooler(vector)

    def exported_model(self) -> keras.Model:
        """Returns a model whose outputs contain no list."""
        return to_functional_model(self)

    def get_config(self) -> JsonObject:
        """Returns the arguments of the constructor, for `from_config`."""
        return {
            **super().get_config(),
            "config": self.config.to_dict(),
            "use_one_hot_embeddings": self.use_one_hot_embeddings,
            "gradient_checkpointing": self.gradient_checkpointing,
            "left_to_right": self.left_to_right,
            "trim_padding": self.trim_padding,
            "seed": self.seed,
        }


def _check_same_shape(
    name: str, tensor: Tensor | None, input_ids: Tensor
) -> None:
    """Raises a ValueError if a feature has another shape than `input_ids`.

    Otherwise a single row or column would silently be repeated.
    """
    if tensor is None:
        return
    # Only an `input_mask` may have the shape [B, T, T].
    ranks = (2, 3) if name == "input_mask" else (2,)
    expected = tuple(input_ids.shape)
    shape = tuple(tensor.shape)
    ends = (*shape[:1], *shape[-1:])
    if len(shape) not in ranks or any(
        None not in pair and pair[0] != pair[1]
        for pair in zip(expected, ends, strict=True)
    ):
        raise ValueError(
            f"`{name}` must have the shape {expected} of `input_ids`. "
            f"Received: {shape}"
        )
