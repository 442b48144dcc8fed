"""The outputs of exported heads, and the logits that they become again."""

import numpy as np
import pytest
import tensorflow as tf

from data.probabilities import to_probabilities
from exporting import export_formats
from exporting.label_outputs import compute_outputs
from model_folders import kinds
from model_folders.formats.huggingface_config import PROBLEM_TYPE_OF_MODE
from model_folders.kinds import ModelClass
from model_folders.output_modes import CLASSIFICATION

LOGITS = np.array([[0.0, -3.0, 2.5], [40.0, -40.0, 1e-6]], np.float32)


@pytest.mark.parametrize("mode", PROBLEM_TYPE_OF_MODE)
@pytest.mark.parametrize("stride", [0, 3])
def test_a_classifier_scores_as_before_its_export(mode, stride):
    logits = LOGITS[:, :1] if mode == "regression" else LOGITS
    settings = {"output_mode": mode, "doc_stride": stride}
    exported_output = export_formats.exported_output_of(
        ModelClass.CLASSIFIER, settings
    )
    computed = compute_outputs(tf.constant(logits), exported_output)
    outputs = {name: value.numpy() for name, value in computed.items()}
    result = export_formats.to_logits(ModelClass.CLASSIFIER, settings, outputs)
    assert np.isfinite(result).all()
    np.testing.assert_allclose(
        to_probabilities(result, mode),
        to_probabilities(logits, mode),
        rtol=1e-5,
        atol=1e-7,
    )


def test_a_label_of_probability_one_half_is_not_predicted():
    # As in LabelCodec: only above 0.5.
    half = np.float32(0.5)
    values = np.array([half, np.nextafter(half, 1), np.nextafter(half, 0)])
    result = export_formats.to_logits(
        ModelClass.CLASSIFIER,
        {"output_mode": "multilabel"},
        {"probabilities": values.astype(np.float32)[None]},
    )
    predicted = to_probabilities(result.astype(np.float32), "multilabel") > 0.5
    assert predicted.tolist() == [[False, True, False]]


def test_a_span_labeler_exports_its_logits():
    outputs = {"start_logits": LOGITS, "end_logits": -LOGITS}
    assert (
        export_formats.to_logits(ModelClass.SPAN_LABELER, {}, outputs)
        is outputs
    )


def test_a_kind_that_exports_its_logits_gets_them_back(monkeypatch):
    kind = kinds.ModelKind(pipeline_tag="text-ranking", exports_logits=True)
    monkeypatch.setitem(kinds.KIND_OF_CLASS, "ModelOfAUser", kind)
    assert export_formats.exported_output_of("ModelOfAUser", {}) == "logits"
    result = export_formats.to_logits("ModelOfAUser", {}, {"logits": LOGITS})
    assert result is LOGITS


@pytest.mark.parametrize(
    "kind", [ModelClass.TOKEN_CLASSIFIER, ModelClass.MULTIPLE_CHOICE]
)
def test_tags_and_choices_keep_their_order(kind):
    assert export_formats.exported_output_of(kind, {}) == CLASSIFICATION
    probabilities = tf.nn.softmax(LOGITS[None]).numpy()
    outputs = {"probabilities": probabilities}
    result = export_formats.to_logits(kind, {}, outputs)
    np.testing.assert_array_equal(result.argmax(-1), LOGITS[None].argmax(-1))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "classification"),
        ({"output_mode": None}, "classification"),
        ({"output_mode": "regression"}, "regression"),
    ],
)
def test_a_classifier_has_one_label_by_default(settings, expected):
    result = export_formats.exported_output_of(ModelClass.CLASSIFIER, settings)
    assert result == expected
