"""The loss of each task, by the formulas of Google's code.

In shapes, B = batch, T = length in WordPieces, P = masked positions, C =
choices, L = labels, V = vocabulary size and W = hidden size.

A loss is a sum over examples divided by the sum of their weights. The methods
`sums` and `weights` compute these two numbers separately. If a batch is split
over replicas or micro-batches, the sum of each piece is divided by the weights
of the complete batch. Then the gradients of the pieces add up to the gradient
of the complete batch.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Self

import keras

from modeling.ops import (
    Features,
    Outputs,
    Tensor,
    at_least_float32,
    cross_entropy,
)


class Loss:
    """Base class of losses: a weighted mean, computed as a sum and a divisor.

    A loss is the sum of one or several named terms. Most losses have a single
    term, `loss`. The pretraining loss adds two terms, `masked_lm_loss` and
    `next_sentence_loss`. A subclass computes the values of each term, one for
    each example or WordPiece.

    The optional feature `is_real_example` int [B] is 0 for examples that only
    pad a batch and do not count. The optional feature `example_weights` float
    [B] contains the weight of each example, by default 1.

    Attributes:
        epsilon: {name of a loss term: number added to the term's divisor}.
    """

    epsilon: Mapping[str, float] = {"loss": 0.0}
    # The names of the labels, and of the weights that `fit` takes.
    labels: tuple[str, ...] = ("label_ids",)
    weights_name = "example_weights"
    # {an output: (its label, its loss term)}, of models with several outputs.
    outputs: Mapping[str, tuple[str, str]] = {}

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {name of a loss term: value of each example or WordPiece}.

        Args:
            outputs: outputs of the task's model for `features`.
            features: dict of the batch's tensors, labels included.
        """
        raise NotImplementedError

    def value_divergences(
        self, outputs: Outputs, teacher_outputs: Outputs, temperature: float
    ) -> Features:
        """Returns {name of a loss term: distance from a teacher's outputs}.

        There is one distance for each example or WordPiece. By default the
        outputs are logits of classes. The temperature divides the logits of
        both models before the softmax.
        """
        return {"loss": _divergence(outputs, teacher_outputs, temperature)}

    def value_weights(self, features: Features) -> Features:
        """Returns {name of a loss term: weight of each of its values}.

        By default there is one value per example.
        """
        return {"loss": _example_weights(features)}

    def weights(self, features: Features) -> Features:
        """Returns {name of a loss term: divisor of its sum}, scalars."""
        weights = self.value_weights(features)
        return {
            name: keras.ops.sum(at_least_float32(weights[name]))
            for name in self.epsilon
        }

    def sums(self, outputs: Outputs, features: Features) -> Features:
        """Returns {name of a loss term: its sum over the batch}, scalars."""
        return self.weighted_sums(self.values(outputs, features), features)

    def weighted_sums(self, values: Features, features: Features) -> Features:
        """Returns {name of a loss term: weighted sum of `values`}."""
        weights = self.value_weights(features)
        return {
            name: weighted_sum(values[name], weights[name])
            for name in self.epsilon
        }

    def join_labels(
        self,
        features: Features,
        labels: Outputs | None,
        sample_weight: Tensor | None,
    ) -> Features:
        """Returns what the loss reads, of a batch of Keras's `fit`.

        Args:
            features: dict of the model's inputs, labels included or not.
            labels: dict of labels, or the only label. None = in `features`.
            sample_weight: weights, as Keras passes them. None = as in
                `features`.

        Raises:
            ValueError: a label or a weight is missing.
        """
        joined = dict(features)
        if isinstance(labels, Mapping):
            joined |= labels
        elif labels is not None and len(self.labels) == 1:
            joined[self.labels[0]] = labels
        if sample_weight is not None:
            joined[self.weights_name] = sample_weight
        if missing := [name for name in self.labels if name not in joined]:
            raise ValueError(
                f"{type(self).__name__} lacks {', '.join(missing)}. Pass a "
                f"dict of {', '.join(self.labels)} as labels (y)"
            )
        return joined

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments, which a saved model records."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Creates the loss that `get_config` described."""
        return cls(**config)

    def __call__(
        self, outputs: Outputs, features: Features
    ) -> tuple[Tensor, Features]:
        """Returns the loss of one batch, and {name of a loss term: value}.

        Raises:
            TypeError: Keras called the loss with labels and outputs, because
                the compiled model is none of this package.
        """
        if not isinstance(features, Mapping):
            raise TypeError(
                f"{type(self).__name__} takes outputs and a dict of features, "
                "as the models of `modeling` pass them. To compile a model of "
                "your own, pass a loss of Keras, such as keras.losses."
                "SparseCategoricalCrossentropy(from_logits=True)"
            )
        sums = self.sums(outputs, features)
        weights = self.weights(features)
        values = {}
        for name in self.epsilon:
            weight = keras.ops.cast(weights[name], sums[name].dtype)
            values[name] = sums[name] / (weight + self.epsilon[name])
        return sum(values.values()), values


@keras.saving.register_keras_serializable(package="bert")
class ClassifierLoss(Loss):
    """Cross entropy of the right class, averaged over the examples.

    Reads `label_ids` int [B] and logits [B, L], or [B, C] of C choices.

    Args:
        class_weights: [L], for each class, the weight of its examples in the
            mean over the examples. None = all weights are 1.
    """

    def __init__(self, class_weights: Sequence[float] | None = None) -> None:
        self._class_weights = class_weights

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        weights = self._class_weights
        return {"class_weights": None if weights is None else [*weights]}

    def value_weights(self, features: Features) -> Features:
        """Returns {"loss": weight of each example, float [B]}."""
        weights = _example_weights(features)
        if self._class_weights is not None:
            by_class = keras.ops.convert_to_tensor(
                self._class_weights, "float32"
            )
            # Not in place, which torch's gradients do not allow.
            weights = weights * keras.ops.take(by_class, features["label_ids"])
        return {"loss": weights}

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each example, float [B]}."""
        return {"loss": cross_entropy(outputs, features["label_ids"])}


class SquaredLoss(Loss):
    """Base class of losses that distill outputs by squared distance."""

    def value_divergences(
        self, outputs: Outputs, teacher_outputs: Outputs, temperature: float
    ) -> Features:
        """Returns {"loss": squared distance, [B]}. Ignores `temperature`."""
        squares = keras.ops.square(at_least_float32(outputs) - teacher_outputs)
        axes = tuple(range(1, len(squares.shape)))
        return {"loss": keras.ops.sum(squares, axis=axes)}


@keras.saving.register_keras_serializable(package="bert")
class RegressionLoss(SquaredLoss):
    """Mean squared error of predictions [B, 1] and `label_ids` float [B]."""

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each example, float [B]}."""
        predictions = at_least_float32(outputs)[..., 0]
        labels = keras.ops.cast(features["label_ids"], predictions.dtype)
        return {"loss": keras.ops.square(predictions - labels)}


@keras.saving.register_keras_serializable(package="bert")
class RankingLoss(SquaredLoss):
    """Binary cross entropy of a passage's relevance, averaged over examples.

    Reads `label_ids` float [B], clipped to [0, 1], and logits [B, 1].
    """

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each example, float [B]}."""
        logits = at_least_float32(outputs)[..., 0]
        labels = keras.ops.cast(features["label_ids"], logits.dtype)
        labels = keras.ops.clip(labels, 0.0, 1.0)
        return {"loss": keras.ops.softplus(logits) - labels * logits}


@keras.saving.register_keras_serializable(package="bert")
class CosineLoss(SquaredLoss):
    """Squared difference between a label and the cosine of two text vectors.

    Reads `label_ids` float [B] and unit vectors, float [B, 2, W].
    """

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each example, float [B]}."""
        vectors = at_least_float32(outputs)
        cosines = keras.ops.sum(vectors[:, 0] * vectors[:, 1], axis=-1)
        labels = keras.ops.cast(features["label_ids"], cosines.dtype)
        return {"loss": keras.ops.square(cosines - labels)}


@keras.saving.register_keras_serializable(package="bert")
class ContrastiveLoss(SquaredLoss):
    """Cross entropy of finding each pair's second text among all second texts.

    Reads unit vectors, float [B, 2, W]. The negatives are the second texts of
    the other pairs on the same replica, and in the same micro-batch if
    gradients are accumulated.

    Args:
        temperature: divides the cosines before the softmax.
    """

    labels = ()

    def __init__(self, temperature: float) -> None:
        self._temperature = temperature

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {"temperature": self._temperature}

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each example, float [B]}."""
        vectors = at_least_float32(outputs)
        cosines = keras.ops.matmul(
            vectors[:, 0], keras.ops.transpose(vectors[:, 1])
        )
        # Exclude examples that only pad the batch from the negatives.
        is_real = keras.ops.cast(_example_weights(features), cosines.dtype)
        logits = cosines / self._temperature - 1e4 * (1.0 - is_real)
        places = keras.ops.arange(keras.ops.shape(logits)[0])
        return {"loss": cross_entropy(logits, places)}


@keras.saving.register_keras_serializable(package="bert")
class MultiLabelLoss(Loss):
    """Binary cross entropy, averaged over labels, then over examples.

    Reads `label_ids` int or float [B, L], 1 = the label applies, and logits
    [B, L].
    """

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each example, float [B]}."""
        logits = at_least_float32(outputs)
        labels = keras.ops.cast(features["label_ids"], logits.dtype)
        # -log sigmoid(x) = softplus(-x), and 1 - sigmoid(x) = sigmoid(-x).
        is_set = labels * keras.ops.softplus(-logits)
        is_not = (1.0 - labels) * keras.ops.softplus(logits)
        return {"loss": keras.ops.mean(is_set + is_not, axis=-1)}

    def value_divergences(
        self, outputs: Outputs, teacher_outputs: Outputs, temperature: float
    ) -> Features:
        """Returns {"loss": mean divergence over the labels, float [B]}."""
        # Treat each label as two classes. The logit of the class "absent" is 0.
        student, teacher = (
            keras.ops.stack([logits, keras.ops.zeros_like(logits)], axis=-1)
            for logits in (outputs, teacher_outputs)
        )
        label_divergence = _divergence(student, teacher, temperature)
        return {"loss": keras.ops.mean(label_divergence, axis=-1)}


@keras.saving.register_keras_serializable(package="bert")
class SpanLoss(Loss):
    """Mean of the cross entropies of an answer's right start and right end.

    Reads `start_positions` and `end_positions`, int [B], and `start_logits` and
    `end_logits`, float [B, T]. Positions outside the sequence add no loss.
    """

    labels = ("start_positions", "end_positions")
    outputs: Mapping[str, tuple[str, str]] = {
        "start_logits": ("start_positions", "loss"),
        "end_logits": ("end_positions", "loss"),
    }

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each example, float [B]}."""
        start, end = (
            cross_entropy(
                outputs[f"{side}_logits"], features[f"{side}_positions"]
            )
            for side in ("start", "end")
        )
        return {"loss": (start + end) / 2.0}

    def value_divergences(
        self, outputs: Outputs, teacher_outputs: Outputs, temperature: float
    ) -> Features:
        """Returns {"loss": mean divergence of start and end, float [B]}."""
        start, end = (
            _divergence(outputs[name], teacher_outputs[name], temperature)
            for name in ("start_logits", "end_logits")
        )
        return {"loss": (start + end) / 2.0}


@keras.saving.register_keras_serializable(package="bert")
class TokenLoss(Loss):
    """Cross entropy of each word's label, averaged over the words.

    Reads `label_ids` int [B, T], logits [B, T, L], and `label_weights` float
    [B, T]. The weight is 1 at the first WordPiece of each word, else 0.
    """

    # As in the masked LM, keep the loss finite if all weights are 0.
    epsilon: Mapping[str, float] = {"loss": 1e-5}
    labels = ("label_ids", "label_weights")
    weights_name = "label_weights"

    def value_weights(self, features: Features) -> Features:
        """Returns {"loss": weight of each WordPiece, float [B, T]}."""
        return {"loss": features["label_weights"]}

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns {"loss": loss of each WordPiece, float [B, T]}."""
        return {"loss": cross_entropy(outputs, features["label_ids"])}


@keras.saving.register_keras_serializable(package="bert")
class PretrainingLoss(Loss):
    """Masked LM loss (mean over masked positions) plus next sentence loss.

    Reads `masked_lm_ids` int [B, P], `masked_lm_weights` float [B, P], in which
    0 marks padding, and `next_sentence_labels` int [B, 1].

    Args:
        next_sentence: False omits the next sentence loss (paper, section 5.1)
            and its labels.
    """

    labels: tuple[str, ...] = ("masked_lm_ids", "masked_lm_weights")
    outputs: Mapping[str, tuple[str, str]] = {
        "masked_lm_logits": ("masked_lm_ids", "masked_lm_loss"),
        "next_sentence_logits": ("next_sentence_labels", "next_sentence_loss"),
    }

    def __init__(self, next_sentence: bool = True) -> None:
        self._next_sentence = next_sentence
        self.epsilon = {"masked_lm_loss": 1e-5}
        if next_sentence:
            self.labels = (*self.labels, "next_sentence_labels")
            self.epsilon["next_sentence_loss"] = 0.0

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {"next_sentence": self._next_sentence}

    def value_weights(self, features: Features) -> Features:
        """Returns the weights of masked positions [B, P] and examples [B]."""
        return {
            "masked_lm_loss": features["masked_lm_weights"],
            "next_sentence_loss": _example_weights(features),
        }

    def values(self, outputs: Outputs, features: Features) -> Features:
        """Returns the masked LM loss [B, P] and next sentence loss [B]."""
        values = {
            "masked_lm_loss": cross_entropy(
                outputs["masked_lm_logits"], features["masked_lm_ids"]
            )
        }
        if self._next_sentence:
            values["next_sentence_loss"] = cross_entropy(
                outputs["next_sentence_logits"],
                keras.ops.reshape(features["next_sentence_labels"], (-1,)),
            )
        return values

    def value_divergences(
        self, outputs: Outputs, teacher_outputs: Outputs, temperature: float
    ) -> Features:
        """Returns the divergences of masked LM [B, P] and next sentence [B]."""
        return {
            f"{part}_loss": _divergence(
                outputs[f"{part}_logits"],
                teacher_outputs[f"{part}_logits"],
                temperature,
            )
            for part in ("masked_lm", "next_sentence")
        }


# Returns each example's weight, [B].
def _example_weights(features: Features) -> Tensor:
    given = [
        keras.ops.reshape(keras.ops.cast(features[name], "float32"), (-1,))
        for name in ("is_real_example", "example_weights")
        if name in features
    ]
    if given:
        return functools.reduce(keras.ops.multiply, given)
    num_examples = keras.ops.shape(features["input_ids"])[0]
    return keras.ops.ones((num_examples,), "float32")


def weighted_sum(values: Tensor, weights: Tensor) -> Tensor:
    """Returns the sum of `values * weights`, tensors of the same shape."""
    return keras.ops.sum(keras.ops.cast(weights, values.dtype) * values)


def _divergence(
    logits: Tensor, teacher_logits: Tensor, temperature: float
) -> Tensor:
    # The Kullback-Leibler divergence. Dividing the logits by the temperature
    # shrinks the gradient. Multiplying by the squared temperature corrects this
    # (Hinton et al. 2015).
    student, teacher = (
        keras.ops.log_softmax(at_least_float32(each) / temperature, axis=-1)
        for each in (logits, teacher_logits)
    )
    terms = keras.ops.exp(teacher) * (teacher - student)
    return temperature**2 * keras.ops.sum(terms, axis=-1)
