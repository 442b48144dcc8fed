"""Distillation against the same formulas in NumPy, values and gradients.

modeling/distillation.py computes them with keras.ops.
"""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling import losses
from modeling.base_loss import add_terms
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


CASES = [
    (loss_cases.classifier_case, lambda s, t, f: divergence(s, t).mean()),
    (loss_cases.regression_case, lambda s, t, f: np.square(s - t).mean()),
    (loss_cases.multi_label_case, labels_divergence),
    (loss_cases.span_case, spans_divergence),
    (loss_cases.token_case, tokens_divergence),
    (loss_cases.masked_lm_case, pretraining_divergence),
]


@pytest.mark.parametrize("case, formula", CASES)
def test_the_divergence_equals_its_formula(case, formula):
    loss, student, features, _ = case()
    _, teacher, _, _ = case(seed=1)
    expected = formula(student, teacher, features)
    features = loss_cases.with_ids(features)
    divergences = loss.value_divergences(student, teacher, TEMPERATURE)
    sums = loss.sum_values(divergences, features)
    total = add_terms(loss.means(sums, loss.divisors(features)))
    # The weights are float32.
    np.testing.assert_allclose(total, expected, rtol=1e-6)
    for same in loss.value_divergences(student, student, TEMPERATURE).values():
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


@pytest.mark.parametrize("unpad", [False, True])
def test_the_loss_equals_the_formula(batch, unpad):
    student = create_classifier(8, 2, seed=1, unpad=unpad)
    teacher = create_classifier(12, 4, seed=2, unpad=unpad)
    loss = modeling.DistillationLoss(
        losses.ClassifierLoss(), TEMPERATURE, ALPHA, hidden=True
    )
    distiller = modeling.Distiller(student, teacher, loss, seed=3)
    outputs = distiller(batch, training=False, seed=None)
    total, parts = loss(outputs, batch)

    arguments = [
        batch[name] for name in ("input_ids", "input_mask", "segment_ids")
    ]
    student_output, teacher_output = (
        np.asarray(model.bert(*arguments)["sequence_output"])
        for model in (student, teacher)
    )
    (projection,) = (
        np.asarray(variable) for variable in distiller.projection.variables
    )
    mask = batch["input_mask"].astype(float)
    hidden = mask * np.square(
        student_output @ projection - teacher_output
    ).mean(-1)
    logits = [np.asarray(model(batch)) for model in (student, teacher)]
    chosen = softmax(logits[0])[np.arange(B), batch["label_ids"]]
    expected = {
        "task_loss": (1 - ALPHA) * -np.log(chosen).mean(),
        "teacher_loss": ALPHA * divergence(*logits).mean(),
        "hidden_loss": hidden.sum() / mask.sum(),
    }
    assert parts.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(parts[name], value, rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(total, sum(expected.values()), rtol=1e-6)


def test_only_the_student_and_the_projection_learn(batch):
    student, teacher = (
        create_classifier(8, 1, seed=1),
        create_classifier(12, 2, seed=2),
    )
    loss = modeling.DistillationLoss(
        losses.ClassifierLoss(), TEMPERATURE, ALPHA, hidden=True
    )
    distiller = modeling.Distiller(student, teacher, loss, seed=3)
    variables = distiller.trainable_variables
    assert len(variables) == len(student.trainable_variables) + 1
    watched = [
        variable.value for variable in variables + teacher.trainable_variables
    ]
    with tf.GradientTape() as tape:
        total, _ = loss(distiller(batch, training=False, seed=None), batch)
    grads = tape.gradient(total, watched)
    assert all(gradient is not None for gradient in grads[: len(variables)])
    assert all(gradient is None for gradient in grads[len(variables) :])
