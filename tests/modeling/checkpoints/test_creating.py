"""Models that are created with what the files of a folder state."""

import numpy as np
import pytest

import modeling
from model_folders.reading.preset_reading import read_preset
from modeling.checkpoints.creating import create_model
from modeling.checkpoints.variable_names import google_name_of, named_variables
from tests.support.models import SMALL, built


@pytest.fixture(scope="module")
def classifier():
    """A classifier of three labels."""
    return built(modeling.BertClassifier(SMALL, 3))


@pytest.fixture
def preset(classifier, tmp_path):
    """The Preset of a folder that contains the classifier."""
    modeling.save_huggingface(classifier, tmp_path / "model")
    return read_preset(tmp_path / "model")


def test_the_configuration_and_the_values_are_those_of_the_folder(
    preset, classifier
):
    model, report = create_model(modeling.BertClassifier, preset)
    assert model.config.to_dict() == preset.load_config().to_dict()
    assert report.missing == []
    created = named_variables(model)
    for weight in classifier.weights:
        name = google_name_of(weight)
        np.testing.assert_array_equal(created[name], weight)


def test_the_number_of_labels_is_that_of_the_head(preset):
    model, _ = create_model(modeling.BertClassifier, preset)
    assert model.num_labels == 3


def test_a_head_of_another_kind_states_no_number_of_labels(preset):
    with pytest.raises(ValueError, match="Pass num_labels=N for a new head"):
        create_model(modeling.BertTokenClassifier, preset)


def test_an_option_is_preferred_to_what_the_folder_states(preset):
    model, report = create_model(
        modeling.BertClassifier, preset, replaces_head=True, num_labels=2
    )
    assert model.num_labels == 2
    assert report.new_head == ["output_weights", "output_bias"]


def test_a_folder_without_a_configuration_is_an_error(classifier, tmp_path):
    modeling.save_checkpoint(classifier, tmp_path / "bert_model.ckpt")
    with pytest.raises(FileNotFoundError, match=r"contains no bert_config"):
        create_model(modeling.BertClassifier, read_preset(tmp_path))
