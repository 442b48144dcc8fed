"""The JSON files of a preset of KerasHub, as KerasHub 0.32 wrote them."""

import dataclasses
import json

import pytest

from model_folders.bert_config import LAYER_NORM_EPS, BertConfig
from model_folders.formats import kerashub_config, kerashub_objects
from tests.support.paths import ROOT

RECORDED = ROOT / "tests/testdata/weights/kerashub/classifier"
CONFIG = BertConfig(
    vocab_size=1600,
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=48,
    type_vocab_size=2,
)


def recorded(name):
    return json.loads((RECORDED / name).read_text())


def test_a_network_has_the_entries_of_kerashubs():
    created = kerashub_objects.create_network_json(CONFIG)
    theirs = recorded("config.json")
    assert created.keys() == theirs.keys()
    assert created["registered_name"] == theirs["registered_name"]
    assert created["config"].keys() == theirs["config"].keys()


def test_a_network_that_is_written_is_read_as_the_same():
    created = kerashub_objects.create_network_json(CONFIG)
    entries = kerashub_config.parse_network(created, "config.json")
    assert BertConfig.from_dict(entries) == CONFIG


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_a_tokenizer_strips_accents_if_it_lower_cases(do_lower_case):
    created = kerashub_objects.create_tokenizer_json(do_lower_case)
    assert created["config"]["lowercase"] is do_lower_case
    assert created["config"]["strip_accents"] is do_lower_case


@pytest.fixture
def classifier_files():
    """{name: contents} of the files of a classifier."""
    return kerashub_objects.create_classifier_json(
        kerashub_objects.create_network_json(CONFIG),
        kerashub_objects.create_tokenizer_json(True),
        max_seq_length=16,
        num_labels=3,
        activation="sigmoid",
    )


def test_a_classifier_has_the_files_and_entries_of_kerashubs(classifier_files):
    assert classifier_files.keys() == {"task.json", "preprocessor.json"}
    for name, values in classifier_files.items():
        theirs = recorded(name)
        assert values["registered_name"] == theirs["registered_name"]
        assert values["config"].keys() == theirs["config"].keys()


def test_a_classifier_states_its_labels_and_its_length(classifier_files):
    task = classifier_files["task.json"]["config"]
    assert (task["num_classes"], task["activation"]) == (3, "sigmoid")
    preprocessor = classifier_files["preprocessor.json"]["config"]
    assert preprocessor["sequence_length"] == 16


def test_googles_network_is_one_of_kerashubs():
    kerashub_objects.check_backbone(CONFIG)


@pytest.mark.parametrize(
    ("entry", "value", "needed"),
    [
        ("hidden_act", "gelu_erf", "'gelu'"),
        ("layer_norm_eps", 1e-6, str(LAYER_NORM_EPS)),
        ("attention_probs_dropout_prob", 0.5, "0.1"),
    ],
)
def test_another_network_than_kerashubs_is_refused(entry, value, needed):
    changes = {entry: value}
    config = dataclasses.replace(CONFIG, **changes)
    with pytest.raises(ValueError, match=f"needs {entry}={needed}, but"):
        kerashub_objects.check_backbone(config)
