"""Distillation against the same formulas in NumPy, values and gradients."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling import distillation, losses
from tests import models
from tests.modeling import test_losses

B, T, V = 4, 6, 40
RNG = np.random.default_rng(0)
TEMPERATURE, ALPHA = 3.0, 0.7


def softmax(logits):
    exps = np.exp(logits - logits.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def divergence(student, teacher):
    p, q = softmax(teacher / TEMPERATURE), softmax(student / TEMPERATURE)
    return TEMPERATURE**2 * (p * (np.log(p) - np.log(q))).sum(-1)


def labels_divergence(student, teacher, features):
    pairs = (np.stack([each, 0 * each], -1) for each in (student, teacher))
    return divergence(*pairs).mean()


def spans_divergence(student, teacher, features):
    return np.mean([divergence(student[n], teacher[n]) for n in student])


def tokens_divergence(student, teacher, features):
    weights = features["label_weights"]
    total = (divergence(student, teacher) * weights).sum()
    return total / (weights.sum() + 1e-5)


def pretraining_divergence(student, teacher, features):
    words, pairs = (divergence(student[n], teacher[n]) for n in student)
    weights = features["masked_lm_weights"]
    total = (words * weights).sum() / (weights.sum() + 1e-5)
    return total + pairs.mean()


CASES = [
    (test_losses.classifier_case, lambda s, t, f: divergence(s, t).mean()),
    (test_losses.regression_case, lambda s, t, f: np.square(s - t).mean()),
    (test_losses.multi_label_case, labels_divergence),
    (test_losses.span_case, spans_divergence),
    (test_losses.token_case, tokens_divergence),
    (test_losses.masked_lm_case, pretraining_divergence),
]


def lengthen(outputs):
    """Appends two positions to each of a model's outputs."""
    return tf.nest.map_structure(
        lambda each: np.concatenate([each, each[:, :2]], axis=1), outputs
    )


@pytest.mark.parametrize("case, formula", CASES)
def test_the_divergence_equals_its_formula(case, formula):
    loss, student, features, _ = case()
    _, teacher, _, _ = case()
    expected = formula(student, teacher, features)
    if case in (test_losses.span_case, test_losses.token_case):
        # A teacher's sequences may be longer, by padding.
        teacher = lengthen(teacher)
    features = test_losses.with_ids(features)
    divergences = loss.value_divergences(student, teacher, TEMPERATURE)
    found = loss.weighted_sums(divergences, features)
    weights = loss.weights(features)
    total = sum(
        float(found[name]) / (float(weights[name]) + loss.epsilon[name])
        for name in loss.epsilon
    )
    # The weights are float32.
    np.testing.assert_allclose(total, expected, rtol=1e-6)
    for same in loss.value_divergences(student, student, TEMPERATURE).values():
        np.testing.assert_allclose(same, 0, atol=1e-12)


@pytest.mark.parametrize(
    "case",
    [
        test_losses.classifier_case,
        test_losses.multi_label_case,
        test_losses.masked_lm_case,
    ],
)
def test_only_sequences_of_a_teacher_may_be_longer(case):
    loss, student, _, _ = case()
    _, teacher, _, _ = case()
    # More classes, more labels, and more predictions.
    with pytest.raises(tf.errors.InvalidArgumentError):
        loss.value_divergences(student, lengthen(teacher), TEMPERATURE)


def test_layers_are_mapped_as_in_tinybert():
    assert distillation.map_layers(3, 6) == [0, 2, 4, 6]
    assert distillation.map_layers(4, 12) == [0, 3, 6, 9, 12]
    assert distillation.map_layers(2, 3) == [0, 1, 3]


@pytest.fixture(scope="module")
def batch():
    mask = np.array([[1] * 6, [1] * 4 + [0] * 2, [1] * 6, [1] * 2 + [0] * 4])
    return {
        "input_ids": RNG.integers(1, V, (B, T)).astype("int32"),
        "input_mask": mask.astype("int32"),
        "segment_ids": np.zeros((B, T), "int32"),
        "label_ids": np.array([0, 1, 2, 0], "int32"),
    }


def create(width, num_layers, seed, **options):
    config = models.tiny_config(
        hidden_size=width, num_hidden_layers=num_layers, **models.NO_DROPOUT
    )
    return models.built(
        modeling.BertClassifier(
            config, 3, dtype="float64", seed=seed, **options
        )
    )


def numpy_layers(model, batch):
    """Returns hidden states and scaled scores, from the weights themselves."""
    encoded = model.bert(
        batch["input_ids"], batch["input_mask"], batch["segment_ids"]
    )
    states = [encoded["embedding_output"], *encoded["all_encoder_layers"]]
    states = [np.asarray(state) for state in states]
    scores = []
    for state, block in zip(states, model.bert.encoder.blocks, strict=False):
        query, key = (
            state @ np.asarray(dense.kernel) + np.asarray(dense.bias)
            for dense in (block.attention.query, block.attention.key)
        )
        heads = [each.reshape(B, T, 2, -1) for each in (query, key)]
        size = heads[0].shape[-1]
        scores.append(np.einsum("bfnh,btnh->bnft", *heads) / size**0.5)
    return states, scores


@pytest.mark.parametrize("unpad", [False, True])
def test_layers_and_labels_equal_the_formula(batch, unpad):
    student = create(8, 2, seed=1, unpad=unpad)
    teacher = create(12, 4, seed=2, unpad=unpad)
    loss = modeling.DistillationLoss(
        losses.ClassifierLoss(), TEMPERATURE, ALPHA, layers=True
    )
    distiller = modeling.Distiller(student, loss, teacher, seed=3)
    outputs = distiller(batch, training=False, seed=None)
    total, parts = loss(outputs, batch)

    mine, my_scores = numpy_layers(student, batch)
    theirs, their_scores = numpy_layers(teacher, batch)
    (projection,) = (np.asarray(v) for v in distiller.own_variables)
    mask = batch["input_mask"].astype(float)
    pairs = mask[:, :, None] * mask[:, None, :]
    hidden = sum(
        (mask * np.square(m @ projection - theirs[2 * i]).mean(-1)).sum()
        for i, m in enumerate(mine)
    )
    attention = sum(
        (pairs * np.square(m - their_scores[2 * i + 1]).mean(1)).sum()
        for i, m in enumerate(my_scores)
    )
    logits = [np.asarray(model(batch)) for model in (student, teacher)]
    chosen = softmax(logits[0])[np.arange(B), batch["label_ids"]]
    expected = {
        "task_loss": (1 - ALPHA) * -np.log(chosen).mean(),
        "teacher_loss": ALPHA * divergence(*logits).mean(),
        "hidden_loss": hidden / mask.sum(),
        "attention_loss": attention / pairs.sum(),
    }
    assert parts.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(parts[name], value, rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(total, sum(expected.values()), rtol=1e-6)


def test_only_the_student_and_the_projection_learn(batch):
    """And each gradient is the slope that a small step shows."""
    student, teacher = create(8, 1, seed=1), create(12, 2, seed=2)
    loss = modeling.DistillationLoss(
        losses.ClassifierLoss(), TEMPERATURE, ALPHA, layers=True
    )
    distiller = modeling.Distiller(student, loss, teacher, seed=3)
    variables = distiller.trainable_variables
    assert len(variables) == len(student.trainable_variables) + 1

    def compute():
        return loss(distiller(batch, training=False, seed=None), batch)[0]

    watched = [v.value for v in variables + teacher.trainable_variables]
    with tf.GradientTape() as tape:
        total = compute()
    grads = tape.gradient(total, watched)
    assert all(g is not None for g in grads[: len(variables)])
    assert all(g is None for g in grads[len(variables) :])
    step = 1e-4
    chosen = {
        v.path: (v, tf.convert_to_tensor(g))
        for v, g in zip(variables, grads, strict=False)
        if v.path.endswith(("query/kernel", "distillation/kernel", "weights"))
    }
    assert len(chosen) == 3
    for path, (variable, grad) in chosen.items():
        start = np.asarray(variable)
        direction = RNG.normal(size=start.shape)
        values = []
        for sign in (1, -1):
            variable.assign(start + sign * step * direction)
            values.append(float(compute()))
        variable.assign(start)
        slope = (values[0] - values[1]) / (2 * step)
        np.testing.assert_allclose(
            np.sum(np.asarray(grad) * direction), slope, rtol=1e-4, err_msg=path
        )


def test_a_loss_without_a_divergence_says_so():
    class Own(losses.Loss):
        def weights(self, features):
            return {"loss": 1.0}

        def sums(self, outputs, features):
            return {"loss": keras.ops.sum(outputs)}

    with pytest.raises(ValueError, match="Own cannot be used for distill"):
        modeling.DistillationLoss(Own(), TEMPERATURE, ALPHA)
