"""The sizes of a model that is created from the files in a folder."""

import pytest

import modeling
from model_folders.reading.preset import read_preset
from modeling.checkpoints.finding import open_checkpoint
from modeling.checkpoints.model_creation import create_model
from tests.support.models import SMALL, built


@pytest.fixture(scope="module")
def classifier():
    """A classifier of three labels."""
    return built(modeling.BertClassifier(SMALL, 3))


@pytest.fixture
def checkpoint(classifier, tmp_path):
    """The open checkpoint of the classifier."""
    modeling.save_huggingface(classifier, tmp_path / "model")
    return open_checkpoint(read_preset(tmp_path / "model"))


def test_the_configuration_is_that_of_the_folder(checkpoint):
    model = create_model(modeling.BertClassifier, checkpoint)
    assert model.config.to_dict() == checkpoint.preset.load_config().to_dict()


def test_the_number_of_labels_is_that_of_the_head(checkpoint):
    model = create_model(modeling.BertClassifier, checkpoint)
    assert model.num_labels == 3


def test_a_head_of_another_kind_states_no_number_of_labels(checkpoint):
    with pytest.raises(ValueError, match="Pass num_labels=N for a new head"):
        create_model(modeling.BertTokenClassifier, checkpoint)


def test_an_option_is_preferred_to_what_the_folder_states(checkpoint):
    model = create_model(modeling.BertClassifier, checkpoint, num_labels=2)
    assert model.num_labels == 2


def test_a_folder_without_a_configuration_is_an_error(classifier, tmp_path):
    modeling.save_checkpoint(classifier, tmp_path / "bert_model.ckpt")
    checkpoint = open_checkpoint(read_preset(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"contains no bert_config"):
        create_model(modeling.BertClassifier, checkpoint)
