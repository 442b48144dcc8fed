"""The base of all losses, which weights, sums and averages loss terms.

losses.py contains the formulas, a class for each task.

A loss is a sum over examples divided by the sum of their weights. The methods
`sums` and `divisors` compute these two numbers separately. If a batch is split
over replicas or micro-batches, the sum of each piece is divided by the divisor
of the complete batch. Then the gradients of the pieces add up to the gradient
of the complete batch.

In shapes, B = batch.
"""

import abc
import functools
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar, cast

import keras

from files.json_files import JsonObject
from modeling.plain_ops import at_least_float32
from modeling.tensors import Features, Tensor

# What a loss reads: the outputs of a model, or of a model and its teacher.
# Contravariant, so that a task may have a loss that reads more kinds of outputs
# than the model of the task returns.
OutputsT_contra = TypeVar("OutputsT_contra", contravariant=True)

# {name of a loss term: tensor}. The tensors of sums, of their divisors and of
# means are scalars. Unreduced terms contain a number for each example or
# WordPiece: losses, their weights, or distances from a teacher.
LossTerms: TypeAlias = Mapping[str, Tensor]


class BatchLoss(abc.ABC, Generic[OutputsT_contra]):
    """A weighted mean over a batch, computed as a sum and a divisor.

    For example, two examples with the losses 1.0 and 4.0 and the weights 1.0
    and 0.5 have the sum 3.0, the divisor 1.5 and the mean 2.0.

    A loss is the sum of one or several named terms. Most losses have a single
    term, `loss`. The pretraining loss adds two terms, `masked_lm_loss` and
    `next_sentence_loss`.

    Attributes:
        term_names: names of the terms of the loss.
        epsilon: {name of a term: number that `means` adds to its divisor}.
            `means` adds nothing to the divisors of other terms.
    """

    term_names: tuple[str, ...] = ("loss",)
    epsilon: Mapping[str, float] = {}

    @abc.abstractmethod
    def divisors(self, features: Features) -> LossTerms:
        """Returns {name of a loss term: divisor of its sum}, scalars."""

    @abc.abstractmethod
    def sums(self, outputs: OutputsT_contra, features: Features) -> LossTerms:
        """Returns {name of a loss term: its sum over the batch}, scalars."""

    def means(self, sums: LossTerms, divisors: LossTerms) -> LossTerms:
        """Returns {name of a loss term: its weighted mean}, scalars.

        As in Google's code, `epsilon` keeps the loss finite if all weights of a
        term are 0, such as the weights of a batch without masked WordPieces.
        Terms without an epsilon are exact means.

        Args:
            sums: sums over a batch or a piece of it, as `sums` returns them.
            divisors: divisors of the complete batch, as `divisors` returns
                them.
        """
        means = {}
        for name, value in sums.items():
            divisor = keras.ops.cast(divisors[name], value.dtype)
            means[name] = value / (divisor + self.epsilon.get(name, 0.0))
        return means

    def __call__(
        self, outputs: OutputsT_contra, features: Features
    ) -> tuple[Tensor, LossTerms]:
        """Returns the loss of one batch, and {name of a loss term: value}.

        Raises:
            TypeError: Keras called the loss with labels and outputs, because
                the compiled model is not a model of this package.
        """
        if not isinstance(features, Mapping):
            raise TypeError(
                f"{type(self).__name__} takes outputs and a dict of features, "
                "as the models of `modeling` pass them. To compile a model of "
                "your own, pass a loss of Keras, such as keras.losses."
                "SparseCategoricalCrossentropy(from_logits=True)"
            )
        sums = self.sums(outputs, features)
        means = self.means(sums, self.divisors(features))
        return sum_terms(means), means


class OutputTarget(NamedTuple):
    """The labels and the loss term of one of several outputs of a model.

    Attributes:
        label: name of the feature with the labels of the output.
        term: name of the loss term that compares the output with the labels.
    """

    label: str
    term: str


# The loss of any task. It reads what the model of its task returns, a type that
# code for all tasks cannot name.
AnyLoss: TypeAlias = "Loss[Any]"


class Loss(BatchLoss[OutputsT_contra]):
    """Base class of the losses of tasks, which read the outputs of a model.

    A subclass computes `unreduced_terms`: the loss of each example or
    WordPiece. It names the type of the outputs that it reads, `Loss[Tensor]`,
    or `Loss[SpanOutputs]` of a model with several outputs.

    The optional feature `is_real_example` int [B] is 0 for examples that only
    pad a batch and do not count. The optional feature `example_weights` float
    [B] contains the weight of each example, by default 1.

    Attributes:
        label_features: names of the features that are labels.
        sample_weight_feature: name of the feature that gets the `sample_weight`
            of Keras's `fit`.
        target_of_output: {name of an output: its OutputTarget}, for models with
            several outputs. {} for other models.
    """

    label_features: tuple[str, ...] = ("label_ids",)
    sample_weight_feature = "example_weights"
    target_of_output: Mapping[str, OutputTarget] = {}

    @abc.abstractmethod
    def unreduced_terms(
        self, outputs: OutputsT_contra, features: Features
    ) -> LossTerms:
        """Returns {name of a loss term: loss of each example or WordPiece}.

        Args:
            outputs: outputs of the task's model for `features`.
            features: dict of the batch's tensors, labels included.

        Returns:
            {"loss": float [B]}, or as the docstring of a subclass says.
        """

    def unreduced_divergences(
        self,
        outputs: OutputsT_contra,
        teacher_outputs: OutputsT_contra,
        temperature: float,
    ) -> LossTerms:
        """Returns {name of a loss term: distance from a teacher's outputs}.

        There is one distance for each loss in `unreduced_terms`, [B]. By
        default the only output is the logits of classes, float [B, L], and the
        temperature divides the logits of both models before the softmax. The
        loss of a model with several outputs overrides this method.

        Raises:
            TypeError: the model returns several outputs, and the loss does not
                override this method.
        """
        if isinstance(outputs, Mapping):
            raise TypeError(
                f"{type(self).__name__} must override `unreduced_divergences`, "
                f"because it reads several outputs: {', '.join(outputs)}"
            )
        logits = cast("Tensor", outputs)
        teacher_logits = cast("Tensor", teacher_outputs)
        return {"loss": divergence(logits, teacher_logits, temperature)}

    def term_weights(self, features: Features) -> LossTerms:
        """Returns {name of a loss term: weights of its losses}.

        By default there is one loss per example, [B].
        """
        return {"loss": weigh_examples(features)}

    def divisors(self, features: Features) -> LossTerms:
        """Returns {name of a loss term: divisor of its sum}, scalars."""
        weights = self.term_weights(features)
        return {
            name: keras.ops.sum(at_least_float32(weights[name]))
            for name in self.term_names
        }

    def sums(self, outputs: OutputsT_contra, features: Features) -> LossTerms:
        """Returns {name of a loss term: its sum over the batch}, scalars."""
        return self.reduce_terms(
            self.unreduced_terms(outputs, features), features
        )

    def reduce_terms(
        self, unreduced: LossTerms, features: Features
    ) -> LossTerms:
        """Returns {name of a loss term: sum of weighted losses}, scalars."""
        weights = self.term_weights(features)
        return {
            name: sum_weighted(unreduced[name], weights[name])
            for name in self.term_names
        }

    def get_config(self) -> JsonObject:
        """Returns the constructor's arguments, which a saved model records."""
        return {}

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """Creates the loss that `get_config` described."""
        return cls(**config)


def sum_terms(terms: LossTerms) -> Tensor:
    """Returns the sum of {name of a loss term: value}, a scalar."""
    # `sum` starts with the number 0, so its type also contains int.
    return cast("Tensor", sum(terms.values()))


def weigh_examples(features: Features) -> Tensor:
    """Returns the weights of examples, float [B]: 0 for padding, 1 if unset."""
    factors = [
        keras.ops.reshape(keras.ops.cast(features[name], "float32"), (-1,))
        for name in ("is_real_example", "example_weights")
        if name in features
    ]
    if factors:
        return functools.reduce(keras.ops.multiply, factors)
    num_examples = keras.ops.shape(features["input_ids"])[0]
    return keras.ops.ones((num_examples,), "float32")


def sum_weighted(values: Tensor, weights: Tensor) -> Tensor:
    """Returns the sum of `values` [...] times `weights` [...], a scalar."""
    return keras.ops.sum(keras.ops.cast(weights, values.dtype) * values)


def divergence(
    logits: Tensor, teacher_logits: Tensor, temperature: float
) -> Tensor:
    """Returns the Kullback-Leibler divergence of logits from teacher logits.

    Args:
        logits: float [..., L], of L classes.
        teacher_logits: float [..., L].
        temperature: divides both logits before the softmax.

    Returns:
        float [...].
    """
    # Dividing the logits by the temperature shrinks the gradient. Multiplying
    # by the squared temperature corrects this (Hinton et al. 2015).
    student, teacher = (
        keras.ops.log_softmax(at_least_float32(scores) / temperature, axis=-1)
        for scores in (logits, teacher_logits)
    )
    terms = keras.ops.exp(teacher) * (teacher - student)
    return temperature**2 * keras.ops.sum(terms, axis=-1)
