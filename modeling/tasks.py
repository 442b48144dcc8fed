"""Task models: BERT with one head, to train, save and export.

B = batch, T = length in WordPieces, P = masked positions, C = choices,
V = vocabulary size.

Every model takes one dict of features under the original's names. You can pass
a complete training batch, because a model ignores features it does not read:

    input_ids: int [B, T].
    input_mask: int [B, T] (or [B, T, T], see `BertModel`); absent = ones.
    segment_ids: int [B, T]; absent = zeros.
"""

import abc
from typing import Any

import keras

from modeling.bert import BertModel
from modeling.config import BertConfig
from modeling.heads import (
    BidirectionalLSTM,
    MaskedLanguageModelHead,
    OutputHead,
)
from modeling.model import FeaturesModel, Shape, check_ids, get_feature
from modeling.ops import (
    Features,
    Tensor,
    at_least_float32,
    dropout,
    dropout_seed,
)
from modeling.positions import attended_positions, gather_indexes

# As in the original, the head's dropout is fixed: it keeps 0.9, regardless of
# the configuration.
HEAD_DROPOUT_PROB = 0.1


class TaskModel(FeaturesModel, abc.ABC):
    """A `BertModel` named `bert`; subclasses add the head.

    Args:
        config: `BertConfig`.
        name: see `keras.Model`, for `dtype` and `trainable` too.
        bilstm: put a bidirectional LSTM between encoder and head (paper 5.1);
            its outputs replace the encoder's.
        **options: arguments of `BertModel`: `use_one_hot_embeddings`,
            `gradient_checkpointing`, `left_to_right`, `unpad` and `seed`.

    Call arguments:
        features: dict of tensors; see the top of this file.
        training: whether to apply dropout.
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
        features: Features,
        training: bool = False,
        seed: Tensor | None = None,
    ) -> Any:
        """Encodes the features and applies the head; see the class."""
        features = self.check_features(features)
        encoded, seed = self.encode(features, training, seed)
        return self.apply_head(encoded, features, seed)

    @abc.abstractmethod
    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Any:
        """Returns the head's outputs.

        Args:
            encoded: `BertModel`'s outputs for the features.
            features: dict of tensors; see the top of this file.
            seed: int [2], seed of the head's dropout; None = no dropout.
        """

    def encode(
        self, features: Features, training: bool, seed: Tensor | None
    ) -> tuple[Features, Tensor | None]:
        """Returns `BertModel`'s outputs and the seed for the head's dropout."""
        if seed is None:
            seed = self.draw_seed(training)
        input_ids = get_feature(features, "input_ids")
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

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {
            **self.bert.get_config(),
            **super().get_config(),
            "bilstm": self.bilstm is not None,
        }


@keras.saving.register_keras_serializable(package="bert")
class BertPretrainer(TaskModel):
    """Masked language model and next sentence prediction (paper 3.1).

    Reads `masked_lm_positions` int [B, P] in addition to the shared features.

    Returns:
        dict: `masked_lm_logits` float [B, P, V]; `next_sentence_logits`
        float [B, 2], 0 = the next sentence, 1 = a random one.
    """

    feature_ranks = TaskModel.feature_ranks | {"masked_lm_positions": 2}

    def __init__(self, config: BertConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.masked_lm = MaskedLanguageModelHead(
            config,
            self.bert.initializer,
            name="predictions",
            dtype=self.dtype_policy,
        )
        self.next_sentence = self.create_output_head(2, "seq_relationship")

    def build_head(self) -> None:
        """Creates the weights under `cls/`."""
        with keras.name_scope("cls"):
            self.masked_lm.build()
            self.next_sentence.build()

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Features:
        """Computes both heads' logits; see the class."""
        positions = check_ids(
            get_feature(features, "masked_lm_positions"),
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

    def compute_output_shape(
        self, features_shape: dict[str, Shape]
    ) -> dict[str, Shape]:
        """Returns the shapes of what `call` returns."""
        masked = get_feature(features_shape, "masked_lm_positions")
        return {
            "masked_lm_logits": (*masked, self.config.vocab_size),
            "next_sentence_logits": (masked[0], 2),
        }


@keras.saving.register_keras_serializable(package="bert")
class BertClassifier(TaskModel):
    """Classifies a sentence or a pair (paper 4.1; run_classifier.py).

    Args:
        config: `BertConfig`.
        num_labels: number of classes, or of values to predict.
        **kwargs: arguments of `TaskModel`.

    Returns:
        logits, float [B, num_labels].
    """

    # The output of `BertModel` that the head reads.
    head_input = "pooled_output"

    def __init__(
        self, config: BertConfig, num_labels: int, **kwargs: Any
    ) -> None:
        super().__init__(config, **kwargs)
        if num_labels < 1:
            raise ValueError(
                "`num_labels` must be at least 1. "
                f"Received: num_labels={num_labels}"
            )
        self.num_labels = num_labels
        self.head = self.create_output_head(num_labels, "classifier")

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Computes the logits; see the class."""
        inputs = encoded[self.head_input]
        return self.head(dropout(inputs, HEAD_DROPOUT_PROB, seed=seed))

    def compute_output_shape(self, features_shape: dict[str, Shape]) -> Shape:
        """Returns the shape of the logits."""
        shape = get_feature(features_shape, "input_ids")
        kept = shape[:1] if self.head_input == "pooled_output" else shape
        return (*kept, self.num_labels)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {**super().get_config(), "num_labels": self.num_labels}


@keras.saving.register_keras_serializable(package="bert")
class BertTokenClassifier(BertClassifier):
    """Labels every WordPiece (paper 5.3).

    Args:
        config: `BertConfig`.
        num_labels: number of labels a WordPiece can have.
        **kwargs: arguments of `TaskModel`.

    Returns:
        logits, float [B, T, num_labels].
    """

    head_input = "sequence_output"


@keras.saving.register_keras_serializable(package="bert")
class BertSpanLabeler(TaskModel):
    """Finds where an answer starts and ends (paper 4.2; run_squad.py).

    With `unpad` the logits at padding are lowered by 10000, so that padding is
    never chosen. Without it, as in the original, padding competes.

    Returns:
        dict: `start_logits` and `end_logits`, float [B, T].
    """

    def __init__(self, config: BertConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.head = self.create_output_head(2, "squad")

    def build_head(self) -> None:
        """Creates the weights under `cls/squad/`."""
        with keras.name_scope("cls"):
            self.head.build()

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Features:
        """Computes the logits; see the class."""
        logits = self.head(encoded["sequence_output"])
        mask = features.get("input_mask")
        if self.bert.unpad and mask is not None and len(mask.shape) == 2:
            mask = keras.ops.cast(mask, logits.dtype)
            logits = logits + ((1.0 - mask) * -10000.0)[..., None]
        return {"start_logits": logits[..., 0], "end_logits": logits[..., 1]}

    def compute_output_shape(
        self, features_shape: dict[str, Shape]
    ) -> dict[str, Shape]:
        """Returns the shapes of what `call` returns."""
        input_shape = get_feature(features_shape, "input_ids")
        return {"start_logits": input_shape, "end_logits": input_shape}


class SeveralTextsModel(TaskModel):
    """Reads several texts for each example: every feature is int [B, C, T]."""

    feature_ranks = dict.fromkeys(TaskModel.feature_ranks, 3)

    def encode(
        self, features: Features, training: bool, seed: Tensor | None
    ) -> tuple[Features, Tensor | None]:
        """Encodes each text as a sequence of its own."""
        return super().encode(self.flatten(features), training, seed)

    def flatten(self, features: Features) -> Features:
        """Reshapes features from [B, C, T] to [B * C, T], for the encoder."""
        input_ids = get_feature(features, "input_ids")
        if len(input_ids.shape) != 3:
            raise ValueError(
                "`input_ids` must have rank 3, [batch, choices, length]. "
                f"Received: shape {tuple(input_ids.shape)}"
            )
        length = keras.ops.shape(input_ids)[-1]
        return {
            name: keras.ops.reshape(features[name], (-1, length))
            for name in self.feature_ranks
            if name in features
        }


@keras.saving.register_keras_serializable(package="bert")
class BertMultipleChoice(SeveralTextsModel):
    """Scores each of C continuations (paper 4.4, SWAG).

    Every feature is int [B, C, T]: one sequence for each choice. A choice's
    score is the product of its pooled output with one learned vector.

    Returns:
        logits, float [B, C].
    """

    def __init__(self, config: BertConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.head = self.create_output_head(1, "multiple_choice")

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Computes the logits; see the class."""
        logits = self.head(
            dropout(encoded["pooled_output"], HEAD_DROPOUT_PROB, seed=seed)
        )
        return keras.ops.reshape(
            logits, keras.ops.shape(features["input_ids"])[:2]
        )

    def compute_output_shape(self, features_shape: dict[str, Shape]) -> Shape:
        """Returns the shape of what `call` returns."""
        return get_feature(features_shape, "input_ids")[:2]


@keras.saving.register_keras_serializable(package="bert")
class BertEmbedder(SeveralTextsModel):
    """Encodes each of C texts as one vector, to compare texts by cosine.

    The vector is the mean of the last block's outputs over the text's
    WordPieces, scaled to length 1 (Reimers and Gurevych 2019).

    Returns:
        float [B, C, W].
    """

    def build_head(self) -> None:
        """Creates no weights: there is no head."""

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Computes the vectors; see the class."""
        sequence = at_least_float32(encoded["sequence_output"])
        flat = self.flatten(features)
        mask = flat.get("input_mask", keras.ops.ones_like(flat["input_ids"]))
        weights = keras.ops.cast(mask, sequence.dtype)[..., None]
        # The sum is enough: the mean has the same direction.
        vectors = keras.ops.normalize(
            keras.ops.sum(sequence * weights, axis=1), axis=-1
        )
        shape = keras.ops.shape(features["input_ids"])[:2]
        return keras.ops.reshape(vectors, (*shape, self.config.hidden_size))

    def compute_output_shape(self, features_shape: dict[str, Shape]) -> Shape:
        """Returns the shape of what `call` returns."""
        shape = get_feature(features_shape, "input_ids")[:2]
        return (*shape, self.config.hidden_size)
