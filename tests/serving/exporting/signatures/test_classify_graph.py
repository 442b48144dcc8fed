"""Labels from SavedModels, against the Python that the scripts run."""

import numpy as np
from scipy import special

from tests.support.serving.exports import LABELS
from tests.support.tokenizers.packed_texts import pack


def test_classify_returns_probabilities_and_labels(exports):
    served = exports["classifier"]
    for (_, inputs), outputs in zip(
        served.requests[:2], served.outputs, strict=False
    ):
        logits = served.model(pack(served, *inputs.values()))
        expected = special.softmax(logits, -1)
        assert len({*expected.argmax(-1)}) > 1
        result = outputs["probabilities"]
        np.testing.assert_allclose(result, expected, atol=1e-5)
        labels = [LABELS[index] for index in expected.argmax(-1)]
        assert outputs["label"].tolist() == labels
        assert outputs["labels"].tolist() == [LABELS] * len(labels)
