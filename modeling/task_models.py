"""Task models: BERT with one head, to train, save and export.

In shapes, B = batch, T = length in WordPieces, P = masked positions, C =
choices or texts, V = vocabulary size and W = hidden size.

A model ignores features that it does not need, so you can pass a complete
training batch. The input of every model is a dict of these features, named as
in Google's code:

    input_ids: int [B, T].
    input_mask: int [B, T], or [B, T, T] as for `BertModel`. Default: ones.
    segment_ids: int [B, T]. Default: zeros.
"""

import abc
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import keras

from files.json_files import JsonObject
from model_folders.bert_config import BertConfig
from modeling.base_model import FeaturesModel
from modeling.bert import BertModel, EncoderOptions
from modeling.features import checked_ids
from modeling.heads import (
    BidirectionalLSTM,
    MaskedLanguageModelHead,
    OutputHead,
)
from modeling.layers import LayerOptions
from modeling.ops import at_least_float32, dropout, dropout_seed
from modeling.positions import attended_positions, gather_indexes
from modeling.tensors import Features, Outputs, Shape, Tensor

# As in Google's code, no entry of the configuration changes this rate.
HEAD_DROPOUT_PROB = 0.1


class TaskModelOptions(EncoderOptions, LayerOptions, total=False):
    """Arguments that every task model takes besides its own."""

    bilstm: bool


class TaskModel(FeaturesModel, abc.ABC):
    """A `FeaturesModel` of a `BertModel` and a head, which a subclass creates.

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

    Attributes:
        head: the layer that the constructor of a subclass creates. A subclass
            with several layers, or without one, overrides `build_head` instead.
        head_input: name of the output of `BertModel` that the head reads.

    Raises:
        ValueError: a feature is missing or has a wrong shape.
    """

    head: OutputHead
    head_input = "pooled_output"

    def __init__(
        self,
        config: BertConfig,
        name: str | None = None,
        dtype: str | keras.DTypePolicy | None = None,
        trainable: bool = True,
        bilstm: bool = False,
        **options: Unpack[EncoderOptions],
    ) -> None:
        super().__init__(name=name, dtype=dtype, trainable=trainable)
        self.bert = BertModel(config, dtype=self.dtype_policy, **options)
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

    def build_head(self, encoded: dict[str, Shape]) -> None:
        """Creates the weights of `head`.

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

    def draw_seed(self) -> Tensor:
        """Returns a new seed, int [2], for the dropout of a call."""
        return self.bert.draw_seed()

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
        """Returns the outputs of `BertModel`, and the head's dropout seed.

        The outputs are `sequence_output` [B, T, W], `pooled_output` [B, W] and
        the others of `BertModel`. The seed is int [2], or None.
        """
        if not training:
            seed = None
        elif seed is None:
            seed = self.draw_seed()
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


@keras.saving.register_keras_serializable(package="bert")
class BertPretrainer(TaskModel):
    """Masked LM and next sentence prediction (paper, section 3.1).

    Reads `masked_lm_positions` int [B, P] in addition to the shared features.

    Returns:
        dict: `masked_lm_logits` float [B, P, V] and `next_sentence_logits`
        float [B, 2], class 0 = the next sentence, 1 = a random sentence.
    """

    feature_ranks = TaskModel.feature_ranks | {"masked_lm_positions": 2}

    def __init__(
        self, config: BertConfig, **options: Unpack[TaskModelOptions]
    ) -> None:
        super().__init__(config, **options)
        self.masked_lm = MaskedLanguageModelHead(
            config,
            self.bert.initializer,
            name="predictions",
            dtype=self.dtype_policy,
        )
        self.next_sentence = self.create_output_head(2, "seq_relationship")

    def build_head(self, encoded: dict[str, Shape]) -> None:
        """Creates the heads' weights, whose names begin with `cls/`."""
        with keras.name_scope("cls"):
            self.masked_lm.build(encoded["sequence_output"])
            self.next_sentence.build(encoded["pooled_output"])

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Features:
        """Computes the masked LM logits [B, P, V] and next sentence logits."""
        positions = checked_ids(
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
class BertClassifier(TaskModel):
    """Classifies a sentence or a pair of sentences (paper, section 4.1).

    Args:
        config: sizes and dropout rates of the network.
        num_labels: number of classes, or of values to predict.
        **options: arguments of `TaskModel`.

    Returns:
        logits, float [B, num_labels].
    """

    def __init__(
        self,
        config: BertConfig,
        num_labels: int,
        **options: Unpack[TaskModelOptions],
    ) -> None:
        super().__init__(config, **options)
        self.num_labels = num_labels
        self.head = self.create_output_head(num_labels, "classifier")

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Returns the logits of BERT's output `head_input`, see the class."""
        inputs = dropout(encoded[self.head_input], HEAD_DROPOUT_PROB, seed=seed)
        logits: Tensor = self.head(inputs)
        return logits

    def get_config(self) -> JsonObject:
        """Returns the constructor's arguments."""
        return {**super().get_config(), "num_labels": self.num_labels}


@keras.saving.register_keras_serializable(package="bert")
class BertTokenClassifier(BertClassifier):
    """Labels every WordPiece (paper, section 5.3).

    Args:
        config: sizes and dropout rates of the network.
        num_labels: number of different labels.
        **options: arguments of `TaskModel`.

    Returns:
        logits, float [B, T, num_labels].
    """

    head_input = "sequence_output"


@keras.saving.register_keras_serializable(package="bert")
class BertSpanLabeler(TaskModel):
    """Finds where an answer starts and ends (paper, section 4.2).

    With `unpad`, the model subtracts 10000 from the logits at padding, so that
    no answer starts or ends there. Without `unpad`, as in Google's code, an
    answer can start or end at padding.

    Returns:
        dict: `start_logits` and `end_logits`, float [B, T].
    """

    head_input = "sequence_output"

    def __init__(
        self, config: BertConfig, **options: Unpack[TaskModelOptions]
    ) -> None:
        super().__init__(config, **options)
        self.head = self.create_output_head(2, "squad")

    def build_head(self, encoded: dict[str, Shape]) -> None:
        """Creates the head's weights, whose names begin with `cls/squad/`."""
        with keras.name_scope("cls"):
            super().build_head(encoded)

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Features:
        """Returns the start and end logits of each position, float [B, T]."""
        logits = self.head(encoded[self.head_input])
        mask = features.get("input_mask")
        if self.bert.unpad and mask is not None and len(mask.shape) == 2:
            mask = keras.ops.cast(mask, logits.dtype)
            logits = logits + ((1.0 - mask) * -10000.0)[..., None]
        return {"start_logits": logits[..., 0], "end_logits": logits[..., 1]}


class SeveralTextsModel(TaskModel):
    """Base class of models that encode the C texts of an example by themselves.

    A subclass whose exports read [B, C, T] sets `feature_ranks`.
    """

    def encode(
        self, features: Features, training: bool, seed: Tensor | None
    ) -> tuple[Features, Tensor | None]:
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
class BertMultipleChoice(SeveralTextsModel):
    """Scores each of C continuations of a sentence (paper, section 4.4, SWAG).

    Every feature is int [B, C, T], with one sequence for each choice. A
    choice's score is the dot product of its pooled output and a learned vector.

    Returns:
        logits, float [B, C].
    """

    feature_ranks = dict.fromkeys(TaskModel.feature_ranks, 3)

    def __init__(
        self, config: BertConfig, **options: Unpack[TaskModelOptions]
    ) -> None:
        super().__init__(config, **options)
        self.head = self.create_output_head(1, "multiple_choice")

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
    ) -> Tensor:
        """Returns the logit of each choice, float [B, C]."""
        logits = self.head(
            dropout(encoded[self.head_input], HEAD_DROPOUT_PROB, seed=seed)
        )
        return keras.ops.reshape(
            logits, keras.ops.shape(features["input_ids"])[:2]
        )


@keras.saving.register_keras_serializable(package="bert")
class BertEmbedder(SeveralTextsModel):
    """Encodes each text as one vector, to compare texts by cosine.

    The vector is the mean of the last block's outputs over the WordPieces of
    the text, scaled to length 1 (Reimers and Gurevych 2019). Every feature is
    int [B, T], one text per example, or [B, C, T], the C texts that a loss
    compares.

    Returns:
        float [B, W], or [B, C, W].
    """

    embeds_texts = True

    # The rank of the ids for which Keras created the graph of `predict`. Keras
    # would widen this graph to ids of any rank, which have no axes.
    _rank_of_graph: int | None = None

    def predict(
        self, x: Features | Iterable[object], *args: Any, **kwargs: Any
    ) -> Outputs:
        """Predicts as Keras does, one or several texts per example."""
        batch = getattr(x, "element_spec", x)
        features, *_ = keras.utils.unpack_x_y_sample_weight(batch)
        if isinstance(features, Mapping) and "input_ids" in features:
            rank = len(getattr(features["input_ids"], "shape", ()))
            self.make_predict_function(force=rank != self._rank_of_graph)
            self._rank_of_graph = rank
        outputs: Outputs = super().predict(x, *args, **kwargs)
        return outputs

    def build_head(self, encoded: dict[str, Shape]) -> None:
        """Creates no weights, because this model needs no head."""

    def apply_head(
        self, encoded: Features, features: Features, seed: Tensor | None
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
