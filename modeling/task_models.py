"""Task models: BERT with one head, to train, save and export.

In shapes, B = batch, T = length in WordPieces, P = masked positions, C =
choices or texts, V = vocabulary size and W = hidden size.

The features that all models read are listed at the top of base_task_model.py.
"""

import importlib
from typing import Unpack

import keras

from files.json_files import JsonObject
from model_folders.bert_config import BertConfig
from model_folders.kinds import ModelClass
from model_folders.saved_classes import MODULE_OF_MODELING_CLASS
from modeling.arguments import TaskModelArguments
from modeling.base_model import BaseModel
from modeling.base_task_model import OneHeadModel, TaskModel
from modeling.bert import EncoderOutputs
from modeling.features import to_integer_ids
from modeling.heads import MaskedLanguageModelHead
from modeling.plain_ops import at_least_float32
from modeling.sequence_ops import gather_indexes
from modeling.tensors import (
    Features,
    PretrainerOutputs,
    Shape,
    SpanOutputs,
    Tensor,
)


@keras.saving.register_keras_serializable(package="bert")
class BertPretrainer(TaskModel[PretrainerOutputs]):
    """Masked LM and next sentence prediction (paper, section 3.1).

    Reads `masked_lm_positions` int [B, P] in addition to the shared features.

    Returns:
        dict: `masked_lm_logits` float [B, P, V] and `next_sentence_logits`
        float [B, 2], class 0 = the next sentence, 1 = a random sentence.
    """

    feature_ranks = TaskModel.feature_ranks | {"masked_lm_positions": 2}

    def __init__(
        self, config: BertConfig, **arguments: Unpack[TaskModelArguments]
    ) -> None:
        super().__init__(config, **arguments)
        self.masked_lm = MaskedLanguageModelHead(
            config,
            self.bert.initializer,
            name="predictions",
            dtype=self.dtype_policy,
        )
        self.next_sentence = self.create_output_head(2, "seq_relationship")

    def build_head(self, shapes: dict[str, Shape]) -> None:
        """Creates the heads' weights, whose names begin with `cls/`."""
        with keras.name_scope("cls"):
            self.masked_lm.build(shapes["sequence_output"])
            self.next_sentence.build(shapes["pooled_output"])

    def apply_head(
        self, encoded: EncoderOutputs, features: Features, seed: Tensor | None
    ) -> PretrainerOutputs:
        """Computes the masked LM logits [B, P, V] and next sentence logits."""
        positions = to_integer_ids(
            features["masked_lm_positions"],
            "masked_lm_positions",
            encoded["sequence_output"].shape[1],
        )
        masked = gather_indexes(encoded["sequence_output"], positions)
        words = self.bert.embeddings.word_embeddings
        return {
            "masked_lm_logits": self.masked_lm(masked, words),
            "next_sentence_logits": self.next_sentence(
                encoded["pooled_output"]
            ),
        }


@keras.saving.register_keras_serializable(package="bert")
class BertClassifier(OneHeadModel[Tensor]):
    """Classifies a sentence or a pair of sentences (paper, section 4.1).

    Args:
        config: sizes and dropout rates of the network.
        num_labels: number of classes, or of values to predict.
        **arguments: those of `TaskModel`.

    Returns:
        logits, float [B, num_labels].
    """

    num_labels: int

    def __init__(
        self,
        config: BertConfig,
        num_labels: int,
        **arguments: Unpack[TaskModelArguments],
    ) -> None:
        super().__init__(config, **arguments)
        self.num_labels = num_labels
        self.head = self.create_output_head(num_labels, "classifier")

    def apply_head(
        self, encoded: EncoderOutputs, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Returns the logits, in the shape that the class states."""
        return self.head(self.drop_head_inputs(encoded, seed))

    def get_config(self) -> JsonObject:
        """Returns the arguments of the constructor, for `from_config`."""
        return {**super().get_config(), "num_labels": self.num_labels}


@keras.saving.register_keras_serializable(package="bert")
class BertTokenClassifier(BertClassifier):
    """Labels every WordPiece (paper, section 5.3).

    Args:
        config: sizes and dropout rates of the network.
        num_labels: number of different labels.
        **arguments: those of `TaskModel`.

    Returns:
        logits, float [B, T, num_labels].
    """

    head_input = "sequence_output"


@keras.saving.register_keras_serializable(package="bert")
class BertSpanLabeler(OneHeadModel[SpanOutputs]):
    """Finds where an answer starts and ends (paper, section 4.2).

    With `trim_padding`, the model subtracts 10000 from the logits at padding,
    so that no answer starts or ends there. Without it, as in Google's code, an
    answer can start or end at padding.

    Returns:
        dict: `start_logits` and `end_logits`, float [B, T].
    """

    head_input = "sequence_output"

    def __init__(
        self, config: BertConfig, **arguments: Unpack[TaskModelArguments]
    ) -> None:
        super().__init__(config, **arguments)
        self.head = self.create_output_head(2, "squad")

    def build_head(self, shapes: dict[str, Shape]) -> None:
        """Creates the head's weights, whose names begin with `cls/squad/`."""
        with keras.name_scope("cls"):
            super().build_head(shapes)

    def apply_head(
        self, encoded: EncoderOutputs, features: Features, seed: Tensor | None
    ) -> SpanOutputs:
        """Returns the start and end logits of each position, float [B, T]."""
        logits = self.head(encoded[self.head_input])
        mask = features.get("input_mask")
        if self.bert.trim_padding and mask is not None and len(mask.shape) == 2:
            mask = keras.ops.cast(mask, logits.dtype)
            logits = logits + ((1.0 - mask) * -10000.0)[..., None]
        return {"start_logits": logits[..., 0], "end_logits": logits[..., 1]}


class MultiTextModel(TaskModel[Tensor]):
    """Base class of models that encode each of an example's C texts by itself.

    A subclass whose exports read [B, C, T] sets `feature_ranks`.
    """

    def encode(
        self, features: Features, training: bool, seed: Tensor | None
    ) -> tuple[EncoderOutputs, Tensor | None]:
        """Encodes each text as a separate sequence, [B * C, T] in all."""
        return super().encode(self.flatten(features), training, seed)

    def flatten(self, features: Features) -> Features:
        """Reshapes features from [B, C, T] to [B * C, T], for the encoder.

        Features of one text per example, [B, T], keep their shape.
        """
        input_ids = features["input_ids"]
        length = keras.ops.shape(input_ids)[-1]
        return {
            name: keras.ops.reshape(features[name], (-1, length))
            for name in self.feature_ranks
            if name in features
        }


@keras.saving.register_keras_serializable(package="bert")
class BertMultipleChoice(MultiTextModel, OneHeadModel[Tensor]):
    """Scores each of C continuations of a sentence (paper, section 4.4, SWAG).

    Every feature is int [B, C, T], with one sequence for each choice. A
    choice's score is the dot product of its pooled output and a learned vector.

    Returns:
        logits, float [B, C].
    """

    feature_ranks = dict.fromkeys(TaskModel.feature_ranks, 3)

    def __init__(
        self, config: BertConfig, **arguments: Unpack[TaskModelArguments]
    ) -> None:
        super().__init__(config, **arguments)
        self.head = self.create_output_head(1, "multiple_choice")

    def apply_head(
        self, encoded: EncoderOutputs, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Returns the logit of each choice, float [B, C]."""
        logits = self.head(self.drop_head_inputs(encoded, seed))
        return keras.ops.reshape(
            logits, keras.ops.shape(features["input_ids"])[:2]
        )


@keras.saving.register_keras_serializable(package="bert")
class BertEmbedder(MultiTextModel):
    """Encodes each text as one vector, to compare texts by cosine.

    The vector is the mean of the last block's outputs over the WordPieces of
    the text, scaled to length 1 (Reimers and Gurevych 2019). Every feature is
    int [B, T], one text per example, or [B, C, T], the C texts that a loss
    compares.

    Returns:
        float [B, W], or [B, C, W].
    """

    embeds_texts = True

    def build_head(self, shapes: dict[str, Shape]) -> None:
        """Creates no weights, because this model needs no head."""

    def apply_head(
        self, encoded: EncoderOutputs, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Computes the embedding vectors, float [B, W] or [B, C, W]."""
        sequence = at_least_float32(encoded["sequence_output"])
        flat = self.flatten(features)
        mask = flat.get("input_mask", keras.ops.ones_like(flat["input_ids"]))
        # Do not index with `None`, for which LiteRT lacks an operation.
        weights = keras.ops.expand_dims(
            keras.ops.cast(mask, sequence.dtype), -1
        )
        # Normalize the sum, which has the same direction as the mean.
        vectors = keras.ops.normalize(
            keras.ops.sum(sequence * weights, axis=1), axis=-1
        )
        shape = keras.ops.shape(features["input_ids"])[:-1]
        return keras.ops.reshape(vectors, (*shape, self.config.hidden_size))


def keras_class_of(model_class: ModelClass) -> type[BaseModel]:
    """Returns the class of models with a name, such as "BertClassifier"."""
    module = importlib.import_module(MODULE_OF_MODELING_CLASS[model_class])
    keras_class: type[BaseModel] = getattr(module, model_class)
    return keras_class
