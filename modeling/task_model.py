"""Base class of the task models.

B = batch, T = length in WordPieces.
"""

import abc
from typing import Any

from modeling.bert import BertModel
from modeling.config import BertConfig
from modeling.heads import BidirectionalLSTM, OutputHead
from modeling.model import FeaturesModel, get_feature
from modeling.ops import Tensor, dropout_seed
from modeling.positions import attended_positions


class TaskModel(FeaturesModel, abc.ABC):
    """A `BertModel` named `bert`; subclasses add the head.

    Args:
        config: `BertConfig`.
        name: as `keras.Model`.
        dtype: as `keras.Model`, a policy such as `"mixed_bfloat16"`.
        trainable: as `keras.Model`.
        bilstm: put a bidirectional LSTM between encoder and head (paper 5.1);
            its outputs replace the encoder's.
        **options: arguments of `BertModel`: `use_one_hot_embeddings`,
            `gradient_checkpointing`, `left_to_right`, `unpad` and `seed`.

    Call arguments:
        features: dict of tensors; see the top of this file.
        training: apply dropout.
        seed: int [2], seed of this pass's dropout, for a caller that needs
            different masks on each replica; None = draw one.

    Raises:
        ValueError: a feature is missing or has a wrong shape.
    """

    def __init__(
        self,
        config: BertConfig,
        name: str | None = None,
        dtype: Any = None,
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
        """The `BertConfig`."""
        return self.bert.config

    def build(self, input_shape: Any = None) -> None:
        """Creates all weights; no input is needed."""
        self.bert.build()
        if self.bilstm:
            self.bilstm.build()
        self.build_head()

    def build_head(self) -> None:
        """Creates the head's weights."""
        self.head.build()

    def create_output_head(self, num_outputs: int, name: str) -> OutputHead:
        """Returns a linear head of `num_outputs` logits."""
        return OutputHead(
            num_outputs,
            self.config.hidden_size,
            self.bert.initializer,
            name=name,
            dtype=self.dtype_policy,
        )

    def draw_seed(self, training: bool) -> Tensor | None:
        """Returns a new seed for one pass's dropout, None if not `training`."""
        return self.bert.draw_seed(training)

    def call(
        self,
        features: dict[str, Tensor],
        training: bool = False,
        seed: Tensor | None = None,
    ) -> Any:
        """Encodes the features and applies the head; see the class."""
        encoded, seed = self.encode(features, training, seed)
        return self.apply_head(encoded, features, seed)

    @abc.abstractmethod
    def apply_head(
        self,
        encoded: dict[str, Any],
        features: dict[str, Tensor],
        seed: Tensor | None,
    ) -> Any:
        """Returns the head's outputs.

        Args:
            encoded: `BertModel`'s outputs for the features.
            features: dict of tensors; see the top of this file.
            seed: int [2], seed of the head's dropout; None = no dropout.
        """

    def encode(
        self,
        features: dict[str, Tensor],
        training: bool,
        seed: Tensor | None,
    ) -> tuple[dict[str, Any], Tensor | None]:
        """Returns `BertModel`'s outputs and the seed for the head's dropout."""
        if seed is None:
            seed = self.draw_seed(training)
        input_ids = get_feature(features, "input_ids")
        mask = features.get("input_mask")
        outputs = self.bert(
            input_ids,
            mask,
            features.get("segment_ids"),
            training=training,
            seed=seed,
        )
        if self.bilstm:
            sequence_output, pooled_output = self.bilstm(
                outputs["sequence_output"],
                None if mask is None else attended_positions(mask),
            )
            outputs = {
                **outputs,
                "sequence_output": sequence_output,
                "pooled_output": pooled_output,
            }
        return outputs, dropout_seed(seed, self.bert.num_dropouts)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        options = {"bilstm": self.bilstm is not None}
        return {**super().get_config(), **self.bert.get_options(), **options}
