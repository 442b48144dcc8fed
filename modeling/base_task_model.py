"""Base class of the task models: BERT with one head.

In shapes, B = batch, T = length in WordPieces and W = hidden size.

A model ignores features that it does not need, so you can pass a complete
training batch. The input of every model is a dict of these features, named as
in Google's code:

    input_ids: int [B, T].
    input_mask: int [B, T], or [B, T, T], which `BertModel` describes. By
        default, all positions contain WordPieces.
    segment_ids: int [B, T]. By default, all segments are 0.
"""

import abc
from typing import Generic, Literal, TypeAlias, TypeVar, Unpack

import keras

from files.json_files import JsonObject
from model_folders.bert_config import BertConfig
from modeling.arguments import EncoderArguments
from modeling.base_model import BaseModel
from modeling.bert import BertModel, EncoderOutputs
from modeling.heads import BidirectionalLSTM, OutputHead
from modeling.ops import dropout, dropout_seed
from modeling.sequence_ops import attended_positions
from modeling.tensors import Features, Outputs, Shape, Tensor

# What the head returns, and so what a call of the model returns. Covariant, so
# that an AnyTaskModel may be a model with any outputs.
OutputsT_co = TypeVar("OutputsT_co", bound=Outputs, covariant=True)
# A model, for functions that do not depend on what its head returns.
AnyTaskModel: TypeAlias = "TaskModel[Outputs]"


class TaskModel(BaseModel, abc.ABC, Generic[OutputsT_co]):
    """A `BaseModel` of a `BertModel` and a head, which a subclass creates.

    A subclass names the type of its outputs, `TaskModel[Tensor]`, or a
    TypedDict if it returns several by their names, `TaskModel[SpanOutputs]`.

    Args:
        config: sizes and dropout rates of the network.
        name, dtype, trainable: arguments of `keras.Model`.
        bilstm: put a bidirectional LSTM between encoder and head (paper,
            section 5.1). The head then reads the LSTM's outputs.
        **arguments: those of `BertModel`: `use_one_hot_embeddings`,
            `gradient_checkpointing`, `left_to_right`, `trim_padding` and
            `seed`.

    Call arguments:
        features: dict of tensors, listed at the top of this file.
        training: whether to apply dropout.
        seed: int [2], seed of this call's dropout, for callers that need
            different dropout on each replica. If None, the call draws a new
            seed.

    Raises:
        ValueError: a feature is missing or has a wrong shape.
    """

    def __init__(
        self,
        config: BertConfig,
        name: str | None = None,
        dtype: str | keras.DTypePolicy | None = None,
        trainable: bool = True,
        bilstm: bool = False,
        **arguments: Unpack[EncoderArguments],
    ) -> None:
        super().__init__(name=name, dtype=dtype, trainable=trainable)
        self.bert = BertModel(config, dtype=self.dtype_policy, **arguments)
        self.config = config
        self.bilstm: BidirectionalLSTM | None = None
        if bilstm:
            self.bilstm = BidirectionalLSTM(
                config.hidden_size,
                self.bert.seed_generator,
                name="bilstm",
                dtype=self.dtype_policy,
            )

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates all weights. Ignores `input_shape`."""
        pooled = (None, self.config.hidden_size)
        sequence = (None, *pooled)
        self.bert.build((None, None))
        if self.bilstm:
            self.bilstm.build(sequence)
        self.build_head({"sequence_output": sequence, "pooled_output": pooled})

    @abc.abstractmethod
    def build_head(self, shapes: dict[str, Shape]) -> None:
        """Creates the weights of the head, if it has any.

        Args:
            shapes: shapes of the outputs of `BertModel`, by their names.
        """

    def create_output_head(self, num_outputs: int, name: str) -> OutputHead:
        """Returns a new linear head with `num_outputs` logits."""
        return OutputHead(
            num_outputs,
            self.bert.initializer,
            name=name,
            dtype=self.dtype_policy,
        )

    def draw_seed(self) -> Tensor:
        """Returns a new seed, int [2], for the dropout of a call."""
        return self.bert.draw_seed()

    def call(
        self,
        features: Features,
        training: bool = False,
        seed: Tensor | None = None,
    ) -> OutputsT_co:
        """Encodes the features and applies the head."""
        self.check_features(features)
        encoded, seed = self.encode(features, training, seed)
        return self.apply_head(encoded, features, seed)

    @abc.abstractmethod
    def apply_head(
        self, encoded: EncoderOutputs, features: Features, seed: Tensor | None
    ) -> OutputsT_co:
        """Returns the head's outputs.

        Args:
            encoded: outputs of `BertModel` for the features.
            features: dict of tensors, listed at the top of this file.
            seed: int [2], seed of the head's dropout. If None, the call applies
                no dropout.
        """

    def encode(
        self, features: Features, training: bool, seed: Tensor | None
    ) -> tuple[EncoderOutputs, Tensor | None]:
        """Returns the outputs of `BertModel`, and the head's dropout seed.

        With `bilstm`, `sequence_output` [B, T, W] and `pooled_output` [B, W]
        come from the LSTM. The seed is int [2], or None.
        """
        seed = self.bert.choose_seed(seed, training=training)
        input_ids = features["input_ids"]
        mask = features.get("input_mask")
        segment_ids = features.get("segment_ids")
        outputs = self.bert(
            input_ids, mask, segment_ids, training=training, seed=seed
        )
        if self.bilstm:
            outputs["sequence_output"], outputs["pooled_output"] = self.bilstm(
                outputs["sequence_output"],
                None if mask is None else attended_positions(mask),
            )
        return outputs, dropout_seed(seed, self.bert.num_dropouts)

    def get_config(self) -> JsonObject:
        """Returns the arguments of the constructor, for `from_config`."""
        return {
            **self.bert.get_config(),
            **super().get_config(),
            "bilstm": self.bilstm is not None,
        }


class OneHeadModel(TaskModel[OutputsT_co]):
    """A `TaskModel` whose head is one linear layer.

    Attributes:
        head: the layer, which the constructor of a subclass creates.
        head_input: name of the output of `BertModel` that the layer reads.
        head_dropout_prob: fraction of the layer's inputs that a classifier
            drops in training. As in Google's code, no entry of the
            configuration changes it.
    """

    head: OutputHead
    head_input: Literal["pooled_output", "sequence_output"] = "pooled_output"
    head_dropout_prob: float = 0.1

    def build_head(self, shapes: dict[str, Shape]) -> None:
        """Creates the weights of `head`."""
        self.head.build(shapes[self.head_input])

    def drop_head_inputs(
        self, encoded: EncoderOutputs, seed: Tensor | None
    ) -> Tensor:
        """Returns `head_input` with dropout, float [B, W] or [B, T, W].

        Args:
            encoded: outputs of `BertModel`.
            seed: int [2], seed of the dropout. If None, nothing is dropped.
        """
        return dropout(
            encoded[self.head_input], self.head_dropout_prob, seed=seed
        )
