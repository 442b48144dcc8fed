"""The export of a multiple-choice model, of which only ids are read."""

import numpy as np
import pytest
from scipy import special

import exporting
import modeling
import serving
from serving import engines
from tests.support.serving.exports import create_model, create_options


@pytest.fixture(scope="module")
def choice_model():
    """A tiny multiple-choice model."""
    return create_model(modeling.BertMultipleChoice)


@pytest.fixture(scope="module")
def choice_folder(choice_model, tmp_path_factory):
    """The folder of its export."""
    folder = tmp_path_factory.mktemp("choices") / "export"
    exporting.export(folder, choice_model, {}, create_options())
    return folder


def test_the_probabilities_of_choices_are_their_softmax(
    choice_model, choice_folder
):
    ids = np.random.default_rng(0).integers(1, 50, (2, 4, 6)).astype("int32")
    features = {
        "input_ids": ids,
        "input_mask": np.ones_like(ids),
        "segment_ids": np.zeros_like(ids),
    }
    outputs = engines.load_engine(choice_folder, "saved_model").run(features)
    np.testing.assert_allclose(
        outputs["probabilities"],
        special.softmax(choice_model(features), -1),
        rtol=0,
        atol=1e-6,
    )


def test_an_export_of_a_multiple_choice_model_accepts_no_text(choice_folder):
    assert serving.load(choice_folder).text_task_names == []
