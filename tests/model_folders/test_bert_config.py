"""The configuration of a network: its defaults, its files, wrong values."""

import json

import numpy as np
import pytest

from modeling import BertClassifier, BertConfig, BertModel, load_config
from tests.support.paths import ROOT

FILE = ROOT / "examples/configs/chinese_L-12_H-768_A-12.json"
UNUSED = {"directionality": "bidi", "pooler_fc_size": 768}
RELEASED = json.loads(FILE.read_text()) | UNUSED


def test_the_defaults_are_those_of_googles_code():
    config = BertConfig(vocab_size=30522)
    expected = RELEASED | {"vocab_size": 30522, "type_vocab_size": 16}
    assert config.to_dict() | UNUSED == expected


def test_a_released_file_comes_back_with_its_unused_entries(tmp_path):
    path = tmp_path / "bert_config.json"
    path.write_text(json.dumps(RELEASED))
    config = BertConfig.from_json_file(path)
    assert config.vocab_size == 21128
    assert config.to_dict() == RELEASED
    expected = json.dumps(RELEASED, indent=2, sort_keys=True) + "\n"
    assert config.to_json_string() == expected
    assert load_config(tmp_path) == load_config(path) == config


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_act": "swish"},
        {"num_attention_heads": 0},
        {"hidden_dropout_prob": 1.0},
        {"attention_probs_dropout_prob": None},
        {"num_hidden_layers": 0},
        {"vocab_size": "30522"},
        {"hidden_size": 768.0},
        {"layer_norm_eps": -1},
    ],
)
def test_a_wrong_value_is_named(changes):
    with pytest.raises(ValueError, match=f"`{next(iter(changes))}`"):
        BertConfig.from_dict({**RELEASED, **changes})


def test_heads_are_checked_when_the_network_is_built():
    config = BertConfig(vocab_size=99, hidden_size=37)
    with pytest.raises(ValueError, match="num_attention_heads=12"):
        BertModel(config)


@pytest.mark.parametrize("name", ["", None, "linear"])
def test_an_activation_of_none_is_the_linear_one(name):
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    sizes |= {"vocab_size": 9, "num_hidden_layers": 1}
    config = BertConfig(**sizes, hidden_act=name)
    assert config.to_dict()["hidden_act"] == name
    model = BertModel(config, seed=1)
    expected = BertModel(BertConfig(**sizes, hidden_act="linear"), seed=1)
    ids = {"input_ids": np.arange(9)[None]}
    outputs = model(ids)
    same = expected(ids)
    for one, other in zip(outputs, same, strict=True):
        np.testing.assert_array_equal(outputs[one], same[other])


def refuses(config):
    """Expects the error about a value that is no BertConfig."""
    message = f"must be a BertConfig; received {type(config).__name__}"
    return pytest.raises(TypeError, match=message)


@pytest.mark.parametrize("config", [RELEASED, str(FILE), None])
def test_an_encoder_refuses_a_value_that_is_not_a_bert_config(config):
    with refuses(config):
        BertModel(config)


@pytest.mark.parametrize("config", [RELEASED, str(FILE), None])
def test_a_task_model_refuses_a_value_that_is_not_a_bert_config(config):
    with refuses(config):
        BertClassifier(config, num_labels=2)


# None is the configuration of the preset.
@pytest.mark.parametrize("config", [RELEASED, str(FILE)])
def test_from_preset_refuses_a_value_that_is_not_a_bert_config(config):
    folder = ROOT / "tests/testdata/huggingface/BertModel"
    with refuses(config):
        BertModel.from_preset(folder, config=config)
