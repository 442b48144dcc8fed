"""The formula of each task's loss, for one example, as in Google's code.

In shapes, B = batch, T = length in WordPieces, P = masked positions, C =
choices, L = labels, V = vocabulary size and W = hidden size. The values of all
terms are float. The only term of most losses is named "loss".

base_loss.py weights and averages the terms that these classes return. The
trainer and the distillation use only base_loss.py, so they need no change for a
new formula.
"""

from collections.abc import Mapping, Sequence

import keras

from files.json_files import JsonObject
from modeling.base_loss import (
    Loss,
    LossTerms,
    OutputTarget,
    divergence,
    weigh_examples,
)
from modeling.ops import cross_entropy
from modeling.plain_ops import at_least_float32
from modeling.tensors import Features, PretrainerOutputs, SpanOutputs, Tensor


@keras.saving.register_keras_serializable(package="bert")
class ClassifierLoss(Loss[Tensor]):
    """Cross entropy of the right class, averaged over the examples.

    Reads `label_ids` int [B] and logits [B, L], or [B, C] of C choices.

    Args:
        class_weights: [L], for each class, the weight of its examples in the
            mean over the examples. If None, all weights are 1.
    """

    def __init__(self, class_weights: Sequence[float] | None = None) -> None:
        self._class_weights = class_weights

    def get_config(self) -> JsonObject:
        """Returns the arguments of the constructor, for `from_config`."""
        weights = self._class_weights
        return {"class_weights": None if weights is None else [*weights]}

    def term_weights(self, features: Features) -> LossTerms:
        """Returns {"loss": weight of each example by its class, [B]}."""
        weights = weigh_examples(features)
        if self._class_weights is not None:
            by_class = keras.ops.convert_to_tensor(
                self._class_weights, "float32"
            )
            # Do not multiply in place, which torch's gradients do not allow.
            weights = weights * keras.ops.take(by_class, features["label_ids"])
        return {"loss": weights}

    def unreduced_terms(self, outputs: Tensor, features: Features) -> LossTerms:
        """Returns {"loss": cross entropy of the right class, [B]}."""
        return {"loss": cross_entropy(outputs, features["label_ids"])}


class LossWithSquaredDivergence(Loss[Tensor]):
    """Base class of losses whose distance from a teacher is squared."""

    def unreduced_divergences(
        self, outputs: Tensor, teacher_outputs: Tensor, temperature: float
    ) -> LossTerms:
        """Returns {"loss": squared distance, [B]}. Ignores `temperature`."""
        squares = keras.ops.square(at_least_float32(outputs) - teacher_outputs)
        axes = tuple(range(1, len(squares.shape)))
        return {"loss": keras.ops.sum(squares, axis=axes)}


@keras.saving.register_keras_serializable(package="bert")
class RegressionLoss(LossWithSquaredDivergence):
    """Mean squared error of predictions [B, 1] and `label_ids` float [B]."""

    def unreduced_terms(self, outputs: Tensor, features: Features) -> LossTerms:
        """Returns {"loss": squared error, [B]}."""
        predictions = at_least_float32(outputs)[..., 0]
        labels = keras.ops.cast(features["label_ids"], predictions.dtype)
        return {"loss": keras.ops.square(predictions - labels)}


@keras.saving.register_keras_serializable(package="bert")
class RankingLoss(LossWithSquaredDivergence):
    """Binary cross entropy of a passage's relevance, averaged over examples.

    Reads `label_ids` float [B], clipped to [0, 1], and logits [B, 1].
    """

    def unreduced_terms(self, outputs: Tensor, features: Features) -> LossTerms:
        """Returns {"loss": binary cross entropy of the relevance, [B]}."""
        logits = at_least_float32(outputs)[..., 0]
        labels = keras.ops.cast(features["label_ids"], logits.dtype)
        labels = keras.ops.clip(labels, 0.0, 1.0)
        return {"loss": keras.ops.softplus(logits) - labels * logits}


@keras.saving.register_keras_serializable(package="bert")
class CosineLoss(LossWithSquaredDivergence):
    """Squared difference between a label and the cosine of two text vectors.

    Reads `label_ids` float [B] and unit vectors, float [B, 2, W].
    """

    def unreduced_terms(self, outputs: Tensor, features: Features) -> LossTerms:
        """Returns {"loss": squared error of the cosine, [B]}."""
        vectors = at_least_float32(outputs)
        cosines = keras.ops.sum(vectors[:, 0] * vectors[:, 1], axis=-1)
        labels = keras.ops.cast(features["label_ids"], cosines.dtype)
        return {"loss": keras.ops.square(cosines - labels)}


@keras.saving.register_keras_serializable(package="bert")
class ContrastiveLoss(LossWithSquaredDivergence):
    """Cross entropy of finding each pair's second text among all second texts.

    Reads unit vectors, float [B, 2, W]. The negatives are the second texts of
    the other pairs on the same replica, and in the same micro-batch if
    gradients are accumulated.

    Args:
        temperature: divides the cosines before the softmax.
    """

    label_features = ()

    def __init__(self, temperature: float) -> None:
        self._temperature = temperature

    def get_config(self) -> JsonObject:
        """Returns the arguments of the constructor, for `from_config`."""
        return {"temperature": self._temperature}

    def unreduced_terms(self, outputs: Tensor, features: Features) -> LossTerms:
        """Returns {"loss": cross entropy of the own second text, [B]}."""
        vectors = at_least_float32(outputs)
        cosines = keras.ops.matmul(
            vectors[:, 0], keras.ops.transpose(vectors[:, 1])
        )
        # Exclude examples that only pad the batch from the negatives.
        is_real = keras.ops.cast(weigh_examples(features), cosines.dtype)
        logits = cosines / self._temperature - 1e4 * (1.0 - is_real)
        # The right class of a pair is its own second text.
        own_texts = keras.ops.arange(keras.ops.shape(logits)[0])
        return {"loss": cross_entropy(logits, own_texts)}


@keras.saving.register_keras_serializable(package="bert")
class MultiLabelLoss(Loss[Tensor]):
    """Binary cross entropy, averaged over labels, then over examples.

    Reads `label_ids` int or float [B, L], 1 = the label applies, and logits
    [B, L].
    """

    def unreduced_terms(self, outputs: Tensor, features: Features) -> LossTerms:
        """Returns {"loss": mean binary cross entropy of the labels, [B]}."""
        logits = at_least_float32(outputs)
        labels = keras.ops.cast(features["label_ids"], logits.dtype)
        # -log sigmoid(x) = softplus(-x), and 1 - sigmoid(x) = sigmoid(-x).
        is_set = labels * keras.ops.softplus(-logits)
        is_not = (1.0 - labels) * keras.ops.softplus(logits)
        return {"loss": keras.ops.mean(is_set + is_not, axis=-1)}

    def unreduced_divergences(
        self, outputs: Tensor, teacher_outputs: Tensor, temperature: float
    ) -> LossTerms:
        """Returns {"loss": mean divergence over the labels, [B]}."""
        # Treat each label as two classes. The logit of the class "absent" is 0.
        student, teacher = (
            keras.ops.stack([logits, keras.ops.zeros_like(logits)], axis=-1)
            for logits in (outputs, teacher_outputs)
        )
        label_divergence = divergence(student, teacher, temperature)
        return {"loss": keras.ops.mean(label_divergence, axis=-1)}


@keras.saving.register_keras_serializable(package="bert")
class SpanLoss(Loss[SpanOutputs]):
    """Mean of the cross entropies of an answer's right start and right end.

    Reads `start_positions` and `end_positions`, int [B], and `start_logits` and
    `end_logits`, float [B, T]. Positions outside the sequence add no loss.
    """

    label_features = ("start_positions", "end_positions")
    target_of_output: Mapping[str, OutputTarget] = {
        "start_logits": OutputTarget("start_positions", "loss"),
        "end_logits": OutputTarget("end_positions", "loss"),
    }

    def unreduced_terms(
        self, outputs: SpanOutputs, features: Features
    ) -> LossTerms:
        """Returns {"loss": mean cross entropy of start and end, [B]}."""
        start_loss = cross_entropy(
            outputs["start_logits"], features["start_positions"]
        )
        end_loss = cross_entropy(
            outputs["end_logits"], features["end_positions"]
        )
        return {"loss": (start_loss + end_loss) / 2.0}

    def unreduced_divergences(
        self,
        outputs: SpanOutputs,
        teacher_outputs: SpanOutputs,
        temperature: float,
    ) -> LossTerms:
        """Returns {"loss": mean divergence of start and end, [B]}."""
        start_divergence = divergence(
            outputs["start_logits"],
            teacher_outputs["start_logits"],
            temperature,
        )
        end_divergence = divergence(
            outputs["end_logits"], teacher_outputs["end_logits"], temperature
        )
        return {"loss": (start_divergence + end_divergence) / 2.0}


@keras.saving.register_keras_serializable(package="bert")
class TokenLoss(Loss[Tensor]):
    """Cross entropy of each word's label, averaged over the words.

    Reads `label_ids` int [B, T], logits [B, T, L], and `label_weights` float
    [B, T]. The weight is 1 at the first WordPiece of each word, and 0 at
    the others.
    """

    # As in the masked LM, keep the loss finite if all weights are 0.
    epsilon: Mapping[str, float] = {"loss": 1e-5}
    label_features = ("label_ids", "label_weights")
    sample_weight_feature = "label_weights"

    def term_weights(self, features: Features) -> LossTerms:
        """Returns {"loss": weight of each WordPiece, [B, T]}."""
        return {"loss": features["label_weights"]}

    def unreduced_terms(self, outputs: Tensor, features: Features) -> LossTerms:
        """Returns {"loss": cross entropy of each label, [B, T]}."""
        return {"loss": cross_entropy(outputs, features["label_ids"])}


@keras.saving.register_keras_serializable(package="bert")
class PretrainingLoss(Loss[PretrainerOutputs]):
    """Masked LM loss (mean over masked positions) plus next sentence loss.

    Reads `masked_lm_ids` int [B, P], `masked_lm_weights` float [B, P], in which
    0 marks padding, and `next_sentence_labels` int [B, 1].

    Args:
        next_sentence: False omits the next sentence loss (paper, section 5.1)
            and its labels.
    """

    term_names: tuple[str, ...] = ("masked_lm_loss", "next_sentence_loss")
    # Google's code adds this number too, to the masked LM only.
    epsilon: Mapping[str, float] = {"masked_lm_loss": 1e-5}
    label_features: tuple[str, ...] = (
        "masked_lm_ids",
        "masked_lm_weights",
        "next_sentence_labels",
    )
    target_of_output: Mapping[str, OutputTarget] = {
        "masked_lm_logits": OutputTarget("masked_lm_ids", "masked_lm_loss"),
        "next_sentence_logits": OutputTarget(
            "next_sentence_labels", "next_sentence_loss"
        ),
    }

    def __init__(self, next_sentence: bool = True) -> None:
        self._next_sentence = next_sentence
        if not next_sentence:
            self.term_names = ("masked_lm_loss",)
            self.label_features = ("masked_lm_ids", "masked_lm_weights")

    def get_config(self) -> JsonObject:
        """Returns the arguments of the constructor, for `from_config`."""
        return {"next_sentence": self._next_sentence}

    def term_weights(self, features: Features) -> LossTerms:
        """Returns the weights of masked positions [B, P] and examples [B]."""
        return {
            "masked_lm_loss": features["masked_lm_weights"],
            "next_sentence_loss": weigh_examples(features),
        }

    def unreduced_terms(
        self, outputs: PretrainerOutputs, features: Features
    ) -> LossTerms:
        """Returns the masked LM loss [B, P] and next sentence loss [B]."""
        losses = {
            "masked_lm_loss": cross_entropy(
                outputs["masked_lm_logits"], features["masked_lm_ids"]
            )
        }
        if self._next_sentence:
            losses["next_sentence_loss"] = cross_entropy(
                outputs["next_sentence_logits"],
                keras.ops.reshape(features["next_sentence_labels"], (-1,)),
            )
        return losses

    def unreduced_divergences(
        self,
        outputs: PretrainerOutputs,
        teacher_outputs: PretrainerOutputs,
        temperature: float,
    ) -> LossTerms:
        """Returns the divergences of masked LM [B, P] and next sentence [B]."""
        return {
            "masked_lm_loss": divergence(
                outputs["masked_lm_logits"],
                teacher_outputs["masked_lm_logits"],
                temperature,
            ),
            "next_sentence_loss": divergence(
                outputs["next_sentence_logits"],
                teacher_outputs["next_sentence_logits"],
                temperature,
            ),
        }
