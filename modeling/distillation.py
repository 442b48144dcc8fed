"""Distillation: a student learns from a teacher's outputs (Hinton et al. 2015).

The student may also learn from the output of the teacher's last block. In
shapes, B = batch, T = length in WordPieces and W = hidden size.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import keras

from modeling.base_loss import AnyLoss, BatchLoss, LossTerms, sum_weighted
from modeling.plain_ops import at_least_float32
from modeling.tensors import Features, Outputs, Tensor

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel

ValueT = TypeVar("ValueT")


class DistillerOutputs(NamedTuple):
    """A student's and its teacher's outputs for one batch.

    Attributes:
        outputs: outputs of the student.
        teacher_outputs: outputs of the teacher.
        hidden_states: output of the student's last block, mapped to the
            teacher's width, float [B, T, W].
        teacher_hidden_states: output of the teacher's last block, float
            [B, T, W].
    """

    outputs: Outputs
    teacher_outputs: Outputs
    hidden_states: Tensor
    teacher_hidden_states: Tensor


class Distiller:
    """Calls a student and its teacher on the same batch, for a train step.

    Args:
        student: model to train, built.
        teacher: model to learn from, built.
        loss: loss of the student.
        seed: int, seed of the projection's initial weights.

    Attributes:
        projection: dense layer from the student's width to the teacher's
            width, trained with the student. None if the widths are equal or
            hidden states are not distilled.
    """

    def __init__(
        self,
        student: "AnyTaskModel",
        teacher: "AnyTaskModel",
        loss: "DistillationLoss",
        seed: int | None = None,
    ) -> None:
        self.student = student
        self.teacher = teacher
        self.projection = None
        width = student.config.hidden_size
        teacher_width = teacher.config.hidden_size
        if loss.hidden and width != teacher_width:
            self.projection = keras.layers.Dense(
                teacher_width,
                use_bias=False,
                kernel_initializer=keras.initializers.GlorotUniform(seed),
                name="distillation",
                dtype=student.dtype_policy,
            )
            self.projection.build((None, None, width))

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """Trainable variables of the student, and of the projection."""
        variables: list[keras.Variable] = self.student.trainable_variables
        own = self.projection.variables if self.projection else []
        return variables + own

    def draw_seed(self) -> Tensor:
        """Draws the dropout seed of the student's next call, int [2]."""
        return self.student.draw_seed()

    def __call__(
        self, features: Features, *, training: bool, seed: Tensor
    ) -> DistillerOutputs:
        """Calls both models, and returns the input of DistillationLoss.

        `training` and `seed` apply to the student. The teacher uses no dropout.
        """
        states, outputs = _call_model(
            self.student, features, training=training, seed=seed
        )
        if self.projection:
            states = self.projection(states)
        teacher_states, teacher_outputs = keras.tree.map_structure(
            keras.ops.stop_gradient,
            _call_model(self.teacher, features, training=False, seed=None),
        )
        return DistillerOutputs(
            outputs=outputs,
            teacher_outputs=teacher_outputs,
            hidden_states=states,
            teacher_hidden_states=teacher_states,
        )


def _call_model(
    model: "AnyTaskModel",
    features: Features,
    *,
    training: bool,
    seed: Tensor | None,
) -> tuple[Tensor, Outputs]:
    """Returns (output of a model's last block, outputs of the model)."""
    encoded, head_seed = model.encode(features, training, seed)
    outputs = model.apply_head(encoded, features, head_seed)
    return encoded["sequence_output"], outputs


class DistillationLoss(BatchLoss[DistillerOutputs]):
    """A task's loss plus the distance from a teacher.

    For each term NAME of the task's loss, such as `masked_lm_loss`, this class
    computes two terms: `task_NAME` = (1 - alpha) * NAME, and `teacher_NAME` =
    alpha * the divergence from the teacher's outputs (see
    `Loss.unreduced_divergences`). For example, with alpha = 0.25, a loss of 2.0
    and a divergence of 4.0 become task_loss = 1.5 and teacher_loss = 1.0.

    If hidden states are distilled, `hidden_loss` is the mean squared difference
    between the outputs of the last blocks, over all WordPieces that are not
    padding.

    Args:
        loss: loss of the task.
        temperature: temperature of the divergence, above 0.
        alpha: weight of the teacher's loss, in [0, 1].
        hidden: whether to distill the output of the last block too.
    """

    def __init__(
        self,
        loss: AnyLoss,
        temperature: float,
        alpha: float,
        hidden: bool = False,
    ) -> None:
        self.loss = loss
        self.hidden = hidden
        self.temperature = temperature
        shares = {"task": 1.0 - alpha, "teacher": alpha}
        self.shares = {name: share for name, share in shares.items() if share}
        hidden_terms = ("hidden_loss",) if hidden else ()
        self.term_names = (
            *(
                f"{part}_{name}"
                for part in self.shares
                for name in loss.term_names
            ),
            *hidden_terms,
        )
        self.epsilon = self._copy_to_parts(loss.epsilon)

    def _copy_to_parts(self, values: Mapping[str, ValueT]) -> dict[str, ValueT]:
        """Returns {PART_NAME: value} for each part of the loss."""
        return {
            f"{part}_{name}": value
            for part in self.shares
            for name, value in values.items()
        }

    def divisors(self, features: Features) -> LossTerms:
        """Returns {name of a loss term: divisor of its sum}, scalars."""
        divisors = self._copy_to_parts(self.loss.divisors(features))
        if self.hidden:
            divisors["hidden_loss"] = keras.ops.sum(_mask_of(features))
        return divisors

    def sums(self, outputs: DistillerOutputs, features: Features) -> LossTerms:
        """Returns {name of a loss term: its sum over the batch}, scalars.

        Args:
            outputs: result of a Distiller for `features`.
            features: dict of the batch's tensors, labels included.
        """
        totals = {}
        for part, share in self.shares.items():
            if part == "task":
                unreduced = self.loss.unreduced_terms(outputs.outputs, features)
            else:
                unreduced = self.loss.unreduced_divergences(
                    outputs.outputs, outputs.teacher_outputs, self.temperature
                )
            sums = self.loss.reduce_terms(unreduced, features)
            for name, value in sums.items():
                totals[f"{part}_{name}"] = share * value
        if self.hidden:
            difference = at_least_float32(
                outputs.hidden_states
            ) - at_least_float32(outputs.teacher_hidden_states)
            squares = keras.ops.mean(keras.ops.square(difference), axis=-1)
            totals["hidden_loss"] = sum_weighted(squares, _mask_of(features))
        return totals


def _mask_of(features: Features) -> Tensor:
    """Returns float [B, T], 1 = a WordPiece, 0 = padding.

    For features [B, C, T], C texts per example, [B * C, T].
    """
    input_ids = features["input_ids"]
    mask = features.get("input_mask", keras.ops.ones_like(input_ids))
    mask = keras.ops.reshape(mask, (-1, keras.ops.shape(mask)[-1]))
    return keras.ops.cast(mask, "float32")
