"""Distillation: a student learns from a teacher's outputs and layers.

    Hinton et al. 2015  distills the outputs, softened by a temperature
    Jiao et al. 2020    TinyBERT, also distills hidden states and attention
                        scores

In shapes, B = batch, T = length in WordPieces, W = hidden size and N = heads.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import keras

from modeling.losses import Features, Loss, weighted_sum
from modeling.model import select_features
from modeling.ops import Tensor, at_least_float32

# Prefix of the names of features that are a teacher's outputs. If the teacher
# has a single output, the feature is called OUTPUT_PREFIX + "outputs".
OUTPUT_PREFIX = "teacher_"


class Distilled(NamedTuple):
    """A student's and its teacher's outputs for one batch.

    Attributes:
        outputs: outputs of the student.
        teacher_outputs: outputs of the teacher.
        hidden_states: pairs (student's, teacher's) of float [B, T, W], first
            for the embeddings, then for each block of the student. Empty if
            layers are not distilled.
        attention_scores: pairs (student's, teacher's) of float [B, N, T, T],
            for each block of the student. Empty if layers are not distilled.
    """

    outputs: Any
    teacher_outputs: Any
    hidden_states: Sequence[tuple[Tensor, Tensor]] = ()
    attention_scores: Sequence[tuple[Tensor, Tensor]] = ()


def map_layers(num_student_layers: int, num_teacher_layers: int) -> list[int]:
    """Returns, for each layer of a student, the teacher's layer to learn from.

    Layer 0 is the embeddings. The mapping is uniform as in TinyBERT: a student
    with 3 layers learns from layers 2, 4 and 6 of a teacher with 6 layers.
    """
    return [
        layer * num_teacher_layers // num_student_layers
        for layer in range(num_student_layers + 1)
    ]


class Distiller:
    """Calls a student and its teacher on the same batch, for a train step.

    Args:
        student: a built TaskModel.
        loss: the student's DistillationLoss.
        teacher: a built TaskModel. None = the features contain the teacher's
            outputs, with OUTPUT_PREFIX before their names.
        seed: int, seed of the projection's initial weights.

    Attributes:
        projection: dense layer from the student's width to the teacher's
            width, trained with the student. None if the widths are equal or
            layers are not distilled.
    """

    def __init__(
        self,
        student: keras.Model,
        loss: "DistillationLoss",
        teacher: keras.Model | None = None,
        seed: int | None = None,
    ) -> None:
        self.student, self.teacher = student, teacher
        self.loss: Any = loss
        self.projection = None
        if not loss.layers or teacher is None:
            return
        width = student.config.hidden_size
        needed = teacher.config.hidden_size
        if width != needed:
            self.projection = keras.layers.Dense(
                needed,
                use_bias=False,
                kernel_initializer=keras.initializers.GlorotUniform(seed),
                name="distillation",
                dtype=student.dtype_policy,
            )
            self.projection.build((None, None, width))

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """Trainable variables of the student, and of the projection."""
        return self.student.trainable_variables + self.own_variables

    @property
    def own_variables(self) -> list[keras.Variable]:
        """Variables of the projection, which is not part of the student."""
        return self.projection.variables if self.projection else []

    def draw_seed(self, training: bool) -> Tensor | None:
        """Draws the dropout seed of the student's next call."""
        return self.student.draw_seed(training)

    def __call__(
        self, features: Any, *, training: bool, seed: Tensor
    ) -> Distilled:
        """Calls both models, and returns the input of DistillationLoss.

        `training` and `seed` apply to the student. The teacher uses no dropout.
        """
        if self.teacher is None:
            inputs = select_features(self.student, features)
            read = {
                name.removeprefix(OUTPUT_PREFIX): value
                for name, value in features.items()
                if name.startswith(OUTPUT_PREFIX)
            }
            return Distilled(
                self.student(inputs, training=training, seed=seed),
                read.get("outputs", read),
            )
        student, outputs = _run(self.student, features, training, seed)
        teacher, teacher_outputs = _stop_gradient(
            _run(self.teacher, features, False, None)
        )
        if not self.loss.layers:
            return Distilled(outputs, teacher_outputs)
        mapping = map_layers(len(student) - 1, len(teacher) - 1)
        project = self.projection or (lambda states: states)
        hidden_states = [
            (project(states), teacher[layer])
            for states, layer in zip(student, mapping, strict=True)
        ]
        scores = [
            (
                attention_scores(self.student, student, layer),
                _stop_gradient(
                    attention_scores(self.teacher, teacher, mapping[layer])
                ),
            )
            for layer in range(1, len(student))
        ]
        return Distilled(outputs, teacher_outputs, hidden_states, scores)


def _run(
    model: Any, features: Features, training: bool, seed: Tensor
) -> tuple[list[Tensor], Any]:
    """Returns a model's hidden states (embeddings, then blocks) and outputs."""
    encoded, head_seed = model.encode(features, training, seed)
    states = [encoded["embedding_output"], *encoded["all_encoder_layers"]]
    return states, model.apply_head(encoded, features, head_seed)


def _stop_gradient(tensors: Any) -> Any:
    return keras.tree.map_structure(keras.ops.stop_gradient, tensors)


def attention_scores(
    model: keras.Model, states: Sequence[Tensor], layer: int
) -> Tensor:
    """Returns a block's scaled attention scores, before mask and softmax.

    The function recomputes the scores from the block's input, because a fused
    or compiled block does not return them. Projecting to query and key is about
    a sixth of the block's computation.

    Args:
        model: TaskModel that contains the block.
        states: hidden states, float [B, T, W], of the embeddings and each
            block.
        layer: number of the block, 1 = the lowest.

    Returns:
        float [B, N, T, T].
    """
    attention = model.bert.encoder.blocks[layer - 1].attention
    inputs = states[layer - 1]
    # Do not mask padding, because the loss masks the scores.
    query = attention.split_heads(attention.query(inputs), None)
    key = attention.split_heads(attention.key(inputs), None)
    scores = keras.ops.matmul(query, keras.ops.swapaxes(key, -1, -2))
    return at_least_float32(scores) / math.sqrt(attention.size_per_head)


class DistillationLoss(Loss):
    """A task's loss plus the distance from a teacher.

    For each term NAME of the task's loss, such as `masked_lm_loss`, this class
    computes two terms: `task_NAME` = (1 - alpha) * NAME, and `teacher_NAME` =
    alpha * the divergence from the teacher's outputs (see
    `WeightedLoss.value_divergences`). If layers are distilled, it also computes
    two mean squared differences, summed over layers: `hidden_loss`, a mean over
    WordPieces and width, and `attention_loss`, a mean over pairs of WordPieces
    and over heads. Padding does not count.

    Args:
        loss: loss of the task.
        temperature: temperature of the divergence, above 0.
        alpha: weight of the teacher's loss, in [0, 1].
        layers: whether to distill hidden states and attention scores too.

    Raises:
        ValueError: the task's loss defines no divergence.
    """

    def __init__(
        self, loss: Loss, temperature: float, alpha: float, layers: bool = False
    ) -> None:
        if not hasattr(loss, "value_divergences"):
            raise ValueError(
                f"{type(loss).__name__} cannot be used for distillation, "
                "because it does not define how to measure the student's "
                "divergence from the teacher"
            )
        self.loss: Any = loss
        self.layers = layers
        self.temperature = temperature
        shares = {"task": 1.0 - alpha, "teacher": alpha}
        self.shares = {name: share for name, share in shares.items() if share}
        self.epsilon = self._of_each_kind(loss.epsilon)
        if layers:
            self.epsilon |= {"hidden_loss": 0.0, "attention_loss": 0.0}

    def _of_each_kind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            f"{kind}_{name}": value
            for kind in self.shares
            for name, value in values.items()
        }

    def weights(self, features: Features) -> Features:
        """Returns {name of a loss term: divisor of its sum}, scalars."""
        divisors = self._of_each_kind(self.loss.weights(features))
        if self.layers:
            lengths = keras.ops.sum(_mask(features), axis=-1)
            divisors["hidden_loss"] = keras.ops.sum(lengths)
            divisors["attention_loss"] = keras.ops.sum(lengths * lengths)
        return divisors

    def sums(self, outputs: Distilled, features: Features) -> Features:
        """Returns {name of a loss term: its sum over the batch}, scalars.

        Args:
            outputs: result of a Distiller for `features`.
            features: dict of the batch's tensors, labels included.
        """
        totals = {}
        for kind, share in self.shares.items():
            values = (
                self.loss.values(outputs.outputs, features)
                if kind == "task"
                else self.loss.value_divergences(
                    outputs.outputs, outputs.teacher_outputs, self.temperature
                )
            )
            sums = self.loss.weighted_sums(values, features)
            for name, value in sums.items():
                totals[f"{kind}_{name}"] = share * value
        if self.layers:
            mask = _mask(features)
            pairs = mask[:, :, None] * mask[:, None, :]
            totals["hidden_loss"] = _distance(outputs.hidden_states, -1, mask)
            totals["attention_loss"] = _distance(
                outputs.attention_scores, 1, pairs
            )
        return totals


def _mask(features: Features) -> Tensor:
    """Returns float [B, T], 1 = a WordPiece, 0 = padding.

    For features [B, C, T] (C texts per example), returns float [B * C, T].
    """
    input_ids = features["input_ids"]
    mask = features.get("input_mask", keras.ops.ones_like(input_ids))
    mask = keras.ops.reshape(mask, (-1, keras.ops.shape(mask)[-1]))
    return keras.ops.cast(mask, "float32")


def _distance(
    pairs: Sequence[tuple[Tensor, Tensor]], axis: int, weights: Tensor
) -> Tensor:
    """Returns the sum of the squared differences between pairs of tensors.

    The squares are averaged over `axis`, multiplied by `weights` and summed.
    """
    total = 0.0
    for mine, theirs in pairs:
        difference = at_least_float32(mine) - at_least_float32(theirs)
        squares = keras.ops.mean(keras.ops.square(difference), axis=axis)
        total += weighted_sum(squares, weights)
    return total
