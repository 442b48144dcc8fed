"""The labels of a model, and what its logits become in an export."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

import modeling
from exporting import label_outputs
from tests.support.serving.exports import LABELS, create_model

LOGITS = np.array([[0.5, -1.0, 2.0]], np.float32)


@pytest.fixture(scope="module")
def model():
    """A tiny classifier of three labels."""
    return create_model(modeling.BertClassifier, len(LABELS))


def test_labels_are_those_of_the_settings(model):
    labels = label_outputs.choose_output_labels(model, {"labels": LABELS})
    assert labels == LABELS


def test_labels_without_names_are_numbered(model):
    assert label_outputs.choose_output_labels(model, {}) == [
        "LABEL_0",
        "LABEL_1",
        "LABEL_2",
    ]


def test_labels_that_do_not_name_all_outputs_are_refused(model):
    with pytest.raises(ValueError, match="must name 3"):
        label_outputs.choose_output_labels(model, {"labels": LABELS[:2]})


@pytest.mark.parametrize(
    ("exported_output", "name", "expected"),
    [
        ("logits", "logits", LOGITS),
        ("classification", "probabilities", special.softmax(LOGITS, -1)),
        ("multilabel", "probabilities", special.expit(LOGITS)),
        ("regression", "values", LOGITS[:, 0]),
    ],
)
def test_the_kind_of_output_decides_what_logits_become(
    exported_output, name, expected
):
    outputs = label_outputs.compute_outputs(
        tf.constant(LOGITS), exported_output
    )
    assert [*outputs] == [name]
    np.testing.assert_allclose(outputs[name], expected, atol=1e-6)
