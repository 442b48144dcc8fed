"""The outputs of exported heads, and the logits that they become again."""

import numpy as np
import pytest
import tensorflow as tf

from data.probabilities import to_probabilities
from model_folders import kinds
from serving.engines import output_kinds
from serving.exporting.signatures.export_signatures import compute_outputs

LOGITS = np.array([[0.0, -3.0, 2.5], [40.0, -40.0, 1e-6]], np.float32)


@pytest.mark.parametrize("mode", kinds.PROBLEM_TYPE_OF_MODE)
@pytest.mark.parametrize("stride", [0, 3])
def test_a_classifier_scores_as_before_its_export(mode, stride):
    logits = LOGITS[:, :1] if mode == "regression" else LOGITS
    settings = {"output_mode": mode, "doc_stride": stride}
    output_kind = output_kinds.output_kind_of(kinds.CLASSIFIER, settings)
    computed = compute_outputs(tf.constant(logits), output_kind)
    outputs = {name: value.numpy() for name, value in computed.items()}
    result = output_kinds.to_logits(kinds.CLASSIFIER, settings, outputs)
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
    result = output_kinds.to_logits(
        kinds.CLASSIFIER,
        {"output_mode": "multilabel"},
        {"probabilities": values.astype(np.float32)[None]},
    )
    predicted = to_probabilities(result.astype(np.float32), "multilabel") > 0.5
    assert predicted.tolist() == [[False, True, False]]


def test_a_span_labeler_exports_its_logits():
    outputs = {"start_logits": LOGITS, "end_logits": -LOGITS}
    assert output_kinds.to_logits(kinds.SPAN_LABELER, {}, outputs) is outputs


@pytest.mark.parametrize(
    "kind", [kinds.TOKEN_CLASSIFIER, kinds.MULTIPLE_CHOICE]
)
def test_tags_and_choices_keep_their_order(kind):
    assert output_kinds.output_kind_of(kind, {}) == output_kinds.CLASSIFICATION
    probabilities = tf.nn.softmax(LOGITS[None]).numpy()
    outputs = {"probabilities": probabilities}
    result = output_kinds.to_logits(kind, {}, outputs)
    np.testing.assert_array_equal(result.argmax(-1), LOGITS[None].argmax(-1))
