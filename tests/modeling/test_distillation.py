"""Distillation against the same formulas in NumPy, values and gradients."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling import losses
from modeling.base_loss import sum_terms
from tests.support import loss_cases, models

B, T, V = 4, 6, 40
TEMPERATURE, ALPHA = 3.0, 0.7


def softmax(logits):
    exps = np.exp(logits - logits.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def divergence(student, teacher):
    p, q = softmax(teacher / TEMPERATURE), softmax(student / TEMPERATURE)
    return TEMPERATURE**2 * (p * (np.log(p) - np.log(q))).sum(-1)


def labels_divergence(student, teacher, features):
    pairs = (
        np.stack([logits, 0 * logits], -1) for logits in (student, teacher)
    )
    return divergence(*pairs).mean()


def spans_divergence(student, teacher, features):
    return np.mean(
        [divergence(student[name], teacher[name]) for name in student]
    )


def tokens_divergence(student, teacher, features):
    weights = features["label_weights"]
    total = (divergence(student, teacher) * weights).sum()
    return total / (weights.sum() + 1e-5)


def pretraining_divergence(student, teacher, features):
    words, pairs = (
        divergence(student[name], teacher[name]) for name in student
    )
    weights = features["masked_lm_weights"]
    total = (words * weights).sum() / (weights.sum() + 1e-5)
    return total + pairs.mean()


def classes_divergence(student, teacher, features):
    return divergence(student, teacher).mean()


def squared_difference(student, teacher, features):
    return np.square(student - teacher).mean()


# Functions of the outputs of the student and of the teacher, and the features.
CASES = [
    (loss_cases.classifier_case, classes_divergence),
    (loss_cases.regression_case, squared_difference),
    (loss_cases.multi_label_case, labels_divergence),
    (loss_cases.span_case, spans_divergence),
    (loss_cases.token_case, tokens_divergence),
    (loss_cases.masked_lm_case, pretraining_divergence),
]


@pytest.mark.parametrize(("case", "formula"), CASES)
def test_the_divergence_equals_its_formula(case, formula):
    loss, student, features, _ = case()
    _, teacher, _, _ = case(seed=1)
    expected = formula(student, teacher, features)
    features = loss_cases.with_ids(features)
    divergences = loss.unreduced_divergences(student, teacher, TEMPERATURE)
    sums = loss.reduce_terms(divergences, features)
    total = sum_terms(loss.means(sums, loss.divisors(features)))
    # The weights are float32.
    np.testing.assert_allclose(total, expected, rtol=1e-6)
    for same in loss.unreduced_divergences(
        student, student, TEMPERATURE
    ).values():
        np.testing.assert_allclose(same, 0, atol=1e-12)


@pytest.fixture(scope="module")
def batch():
    """A batch of four examples, two of them padded."""
    rng = np.random.default_rng(0)
    mask = np.array([[1] * 6, [1] * 4 + [0] * 2, [1] * 6, [1] * 2 + [0] * 4])
    return {
        "input_ids": rng.integers(1, V, (B, T)).astype("int32"),
        "input_mask": mask.astype("int32"),
        "segment_ids": np.zeros((B, T), "int32"),
        "label_ids": np.array([0, 1, 2, 0], "int32"),
    }


def create_classifier(width, num_layers, seed, **options):
    config = models.tiny_config(
        hidden_size=width, num_hidden_layers=num_layers, **models.NO_DROPOUT
    )
    return models.built(
        modeling.BertClassifier(
            config, 3, dtype="float64", seed=seed, **options
        )
    )


@pytest.fixture
def loss():
    """A loss of the task, of the teacher and of the hidden states."""
    return modeling.DistillationLoss(
        losses.ClassifierLoss(), TEMPERATURE, ALPHA, hidden=True
    )


def hidden_distance(distiller, batch):
    """Returns the mean square of hidden states' differences, by NumPy."""
    arguments = [
        batch[name] for name in ("input_ids", "input_mask", "segment_ids")
    ]
    states, teacher_states = (
        np.asarray(model.bert(*arguments)["sequence_output"])
        for model in (distiller.student, distiller.teacher)
    )
    (projection,) = map(np.asarray, distiller.projection.variables)
    squares = np.square(states @ projection - teacher_states).mean(-1)
    mask = batch["input_mask"].astype(float)
    return (mask * squares).sum() / mask.sum()


@pytest.mark.parametrize("trim_padding", [False, True])
def test_the_loss_equals_the_formula(batch, loss, trim_padding):
    student = create_classifier(8, 2, seed=1, trim_padding=trim_padding)
    teacher = create_classifier(12, 4, seed=2, trim_padding=trim_padding)
    distiller = modeling.Distiller(student, teacher, loss, seed=3)
    total, parts = loss(distiller(batch, training=False, seed=None), batch)

    logits = [np.asarray(model(batch)) for model in (student, teacher)]
    chosen = softmax(logits[0])[np.arange(B), batch["label_ids"]]
    expected = {
        "task_loss": (1 - ALPHA) * -np.log(chosen).mean(),
        "teacher_loss": ALPHA * divergence(*logits).mean(),
        "hidden_loss": hidden_distance(distiller, batch),
    }
    values = {name: float(value) for name, value in parts.items()}
    assert values == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(total, sum(expected.values()), rtol=1e-6)


def test_only_the_student_and_the_projection_learn(batch, loss):
    student = create_classifier(8, 1, seed=1)
    teacher = create_classifier(12, 2, seed=2)
    distiller = modeling.Distiller(student, teacher, loss, seed=3)
    learning = distiller.trainable_variables
    assert len(learning) == len(student.trainable_variables) + 1
    with tf.GradientTape() as tape:
        total, _ = loss(distiller(batch, training=False, seed=None), batch)
    grads, teacher_grads = tape.gradient(
        total,
        [
            [variable.value for variable in variables]
            for variables in (learning, teacher.trainable_variables)
        ],
    )
    assert all(gradient is not None for gradient in grads)
    assert all(gradient is None for gradient in teacher_grads)
