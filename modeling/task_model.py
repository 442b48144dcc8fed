"""The base class of task models.

In shapes, B = batch and T = length in WordPieces.

A model ignores features that it does not need, so you can pass a complete
training batch. The input of every model is a dict of these features, named as
in Google's code:

    input_ids: int [B, T].
    input_mask: int [B, T], or [B, T, T] as for `BertModel`. Default: ones.
    segment_ids: int [B, T]. Default: zeros.
"""

import abc
from typing import Any

import keras

from files.json_files import JsonObject
from modeling.base_model import FeaturesModel
from modeling.bert import BertModel
from modeling.config import BertConfig
from modeling.heads import BidirectionalLSTM, OutputHead
from modeling.ops import Features, Outputs, Shape, Tensor, dropout_seed
from modeling.positions import attended_positions


class TaskModel(FeaturesModel, abc.ABC):
    """Base of task models: a `BertModel`, to which subclasses add a head.

    Args:
        config: sizes and dropout rates of the network.
        name, dtype, trainable: arguments of `keras.Model`.
        bilstm: put a bidirectional LSTM between encoder and head (paper,
            section 5.1). The head then reads the LSTM's outputs.
        **options: arguments of `BertModel`: `use_one_hot_embeddings`,
            `gradient_checkpointing`, `left_to_right`, `unpad` and `seed`.

    Call arguments:
        features: dict of tensors, listed at the top of this file.
        training: whether to apply dropout.
        seed: int [2], seed of this call's dropout, for callers that need
            different dropout on each replica. None = draw a new seed.

    Raises:
        ValueError: a feature is missing or has a wrong shape.
    """

    # The output of `BertModel` that the head reads.
    head_input = "pooled_output"

    def __init__(
        self,
        config: BertConfig,
        name: str | None = None,
        dtype: str | keras.DTypePolicy | None = None,
        trainable: bool = True,
        bilstm: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, trainable=trainable)
        self.bert = BertModel(config, dtype=self.dtype_policy, **options)
        self.bilstm: BidirectionalLSTM | None = None
        if bilstm:
            self.bilstm = BidirectionalLSTM(
                config.hidden_size,
                self.bert.seed_generator,
                name="bilstm",
                dtype=self.dtype_policy,
            )

    @property
    def config(self) -> BertConfig:
        """The model's `BertConfig`."""
        return self.bert.config

    def build(self, input_shape: Shape | None = None) -> None:
        """Creates all weights. Ignores `input_shape`."""
        pooled = (None, self.config.hidden_size)
        sequence = (None, *pooled)
        self.bert.build((None, None))
        if self.bilstm:
            self.bilstm.build(sequence)
        self.build_head({"sequence_output": sequence, "pooled_output": pooled})

    def build_head(self, encoded: dict[str, Shape]) -> None:
        """Creates the head's weights.

        Args:
            encoded: shapes of the outputs of `BertModel`.
        """
        self.head.build(encoded[self.head_input])

    def create_output_head(self, num_outputs: int, name: str) -> OutputHead:
        """Returns a new linear head with `num_outputs` logits."""
        return OutputHead(
            num_outputs,
            self.bert.initializer,
            name=name,
            dtype=self.dtype_policy,
        )

    def draw_seed(self, training: bool) -> Tensor | None:
        """Returns a new seed for a call's dropout, or None if not training."""
        return self.bert.draw_seed(training)

    def call(
        self,
        features: Features,
        training: bool = False,
        seed: Tensor | None = None,
    ) -> Outputs:
        """Encodes the features and applies the head."""
        self.check_features(features)
        encoded, seed = self.encode(features, training, seed)
        return self.apply_head(encoded, features, seed)

    @abc.abstractmethod
    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Outputs:
        """Returns the head's outputs.

        Args:
            encoded: outputs of `BertModel` for the features.
            features: dict of tensors, listed at the top of this file.
            seed: int [2], seed of the head's dropout. None = no dropout.
        """

    def encode(
        self, features: Features, training: bool, seed: Tensor | None
    ) -> tuple[Features, Tensor | None]:
        """Returns the outputs of `BertModel`, and the head's dropout seed."""
        if seed is None:
            seed = self.draw_seed(training)
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
        """Returns the constructor's arguments."""
        return {
            **self.bert.get_config(),
            **super().get_config(),
            "bilstm": self.bilstm is not None,
        }
