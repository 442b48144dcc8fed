"""The export of a multiple-choice model, against its logits."""

import numpy as np
import pytest
from scipy import special

from modeling import BertMultipleChoice
from serving.exporting.signatures.choose_graph import create_choose_signatures
from tests.support.serving.exports import create_model, create_options

INPUT_IDS = np.random.default_rng(0).integers(1, 50, (2, 4, 6)).astype("int32")


@pytest.fixture(scope="module")
def model():
    """A tiny multiple-choice model."""
    return create_model(BertMultipleChoice)


@pytest.fixture
def signatures(model):
    """The signatures of its export."""
    return create_choose_signatures(model, {}, create_options())


def test_the_probabilities_of_the_choices_are_their_softmax(model, signatures):
    features = {"input_ids": INPUT_IDS}
    outputs = signatures.predict(features)
    np.testing.assert_allclose(
        outputs["probabilities"],
        special.softmax(model(features), -1),
        rtol=0,
        atol=1e-6,
    )


def test_the_export_accepts_no_text(signatures):
    assert signatures.text_signatures == {}
