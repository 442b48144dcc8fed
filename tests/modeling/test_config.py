import json

import pytest

from modeling import BertConfig, load_config
from tests.golden import ROOT

NAN = float("nan")
FILE = ROOT / "examples/configs/chinese_L-12_H-768_A-12.json"
UNUSED = {"directionality": "bidi", "pooler_fc_size": 768}
RELEASED = json.loads(FILE.read_text()) | UNUSED


def test_the_defaults_are_the_originals():
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


def test_only_another_epsilon_is_written():
    for epsilon in (1e-12, 1e-5):
        values = RELEASED | {"layer_norm_eps": epsilon}
        config = BertConfig.from_dict(values)
        assert config.layer_norm_eps == epsilon
        assert config.to_dict() == (RELEASED if epsilon < 1e-5 else values)
        assert BertConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_act": "swish"}, "`hidden_act` must be one of .*'swish'"),
        ({"num_attention_heads": 7}, "multiple of `num_attention_heads`"),
        ({"hidden_dropout_prob": 1.0}, r"`hidden_dropout_prob`.*\[0, 1\)"),
        ({"attention_probs_dropout_prob": -0.1}, "attention_probs_dropout_pr"),
        ({"initializer_range": -1}, "`initializer_range` must be"),
        ({"num_hidden_layers": 0}, "`num_hidden_layers` must be a whole"),
        ({"vocab_size": "30522"}, "`vocab_size` must be a whole number"),
        ({"vocab_size": True}, "`vocab_size` must be a whole number"),
        ({"hidden_size": 768.0}, "`hidden_size` must be a whole number"),
        ({"hidden_size": 10**40}, "`hidden_size` must be .* to 2147483647"),
        ({"hidden_act": 1}, "`hidden_act` must be one of"),
        ({"hidden_dropout_prob": NAN}, r"`hidden_dropout_prob` .*nan"),
        ({"attention_probs_dropout_prob": None}, "`attention_probs_dropout_p"),
        ({"initializer_range": NAN}, "`initializer_range` must be.*=nan"),
        ({"initializer_range": float("inf")}, "`initializer_range` must.*=inf"),
        ({"layer_norm_eps": -1}, "`layer_norm_eps` must be a finite .*=-1"),
        ({"layer_norm_eps": None}, "`layer_norm_eps` must be a finite .*=None"),
    ],
)
def test_a_wrong_value_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        BertConfig.from_dict({**RELEASED, **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"hidden_size": 768}', "must contain `vocab_size`"),
        ("[30522]", "must contain a JSON object"),
        ("vocab_size: 30522", "is not valid JSON"),
        ('{"vocab_size": 99, "hidden_size": [7]}', "`hidden_size`"),
        ('{"vocab_size": 99, "initializer_range": 1e999}', "initializer_range"),
        ('{"vocab_size": 99, "a": ' + "[" * 99999, "nested too deeply"),
        ('{"vocab_size": 99, "hidden_size": 7}', "multiple of"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, message):
    path = tmp_path / "bert_config.json"
    path.write_text(text)
    for read in (BertConfig.from_json_file, load_config):
        with pytest.raises(ValueError, match=f"bert_config.json.*{message}"):
            read(path)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.json"):
        BertConfig.from_json_file(tmp_path / "nowhere.json")
    with pytest.raises(FileNotFoundError, match=r"bert_config.json nor .*conf"):
        load_config(tmp_path)
