"""Configurations of a network in the files of other libraries."""

import json

import pytest

from model_folders.formats import huggingface_config
from model_folders.kinds import ModelClass
from model_folders.reading import config_files
from tests.support.models import tiny_config

BERT = {**tiny_config().to_dict(), "model_type": "bert"}


@pytest.fixture
def write_config_json(tmp_path):
    """(**changes) -> the path of a config.json with other entries."""

    def write_config_json(**changes):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(BERT | changes))
        return path

    return write_config_json


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("gelu", "gelu_erf"),
        ("gelu_new", "gelu"),
        ("swish", "silu"),
        ("relu", "relu"),
    ],
)
def test_an_activation_has_another_name_in_config_json(
    write_config_json, theirs, ours
):
    config = config_files.load_config(write_config_json(hidden_act=theirs))
    assert config.hidden_act == ours


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("model_type", "gpt2"),
        ("model_type", 5),
        ("is_decoder", True),
        ("position_embedding_type", "relative_key"),
        ("hidden_act", "sine"),
        # test_bert_config.py has more values that BertConfig refuses.
        ("layer_norm_eps", "1e-12"),
    ],
)
def test_another_network_than_bert_is_refused(write_config_json, entry, value):
    changes = {entry: value}
    path = write_config_json(**changes)
    with pytest.raises(ValueError, match=f"^{path}: `{entry}`"):
        config_files.load_config(path)


def test_labels_have_the_order_of_their_ids(write_config_json):
    path = write_config_json(id2label={"1": "yes", "0": "no", "2": 7})
    assert huggingface_config.read_config_labels(path) == ["no", "yes", "7"]


def test_labels_that_transformers_made_up_are_not_labels(write_config_json):
    path = write_config_json(id2label={"0": "LABEL_0", "1": "LABEL_1"})
    assert huggingface_config.read_config_labels(path) is None


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({"id2label": {"0": "score"}}, {"output_mode": "regression"}),
        (
            {"problem_type": "multi_label_classification"},
            {"output_mode": "multilabel"},
        ),
        ({"id2label": {"0": "no", "1": "yes"}}, {}),
    ],
)
def test_the_head_states_its_outputs(write_config_json, changes, settings):
    path = write_config_json(
        architectures=["BertForSequenceClassification"], **changes
    )
    head, stated = config_files.read_class_and_settings(path)
    assert head == ModelClass.CLASSIFIER
    assert settings.items() <= stated.items()


def test_the_tags_of_a_model_from_elsewhere_may_be_illegal(write_config_json):
    path = write_config_json(architectures=["BertForTokenClassification"])
    _, settings = config_files.read_class_and_settings(path)
    assert settings == {"legal_tags": False}


@pytest.mark.parametrize(
    ("transformers_class", "kind"),
    [
        ("BertForSequenceClassification", ModelClass.CLASSIFIER),
        ("BertForPreTraining", ModelClass.PRETRAINER),
        ("BertForMaskedLM", ModelClass.PRETRAINER),
        ("BertForNextSentencePrediction", ModelClass.PRETRAINER),
    ],
)
def test_a_class_of_transformers_has_a_kind(transformers_class, kind):
    assert huggingface_config.CLASS_OF_ARCHITECTURE[transformers_class] == kind
