"""A Hugging Face config.json that is read, or refused by name."""

import json

import pytest

from modeling import load_config, load_labels, read_architectures
from tests.modeling.checkpoints.test_huggingface import write


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "roberta"}, "`model_type` must be 'bert'"),
        ({"position_embedding_type": "relative_key"}, "must be 'absolute'"),
        ({"is_decoder": True}, "`is_decoder` must be False"),
        ({"hidden_act": "relu2"}, "`hidden_act` must be one of .*'gelu_new'"),
        # tests/modeling/test_config.py has more values that BertConfig refuses.
        ({"model_type": 5}, "`model_type` must be 'bert'"),
        ({"layer_norm_eps": "1e-12"}, "`layer_norm_eps` must be a finite"),
    ],
)
def test_a_network_that_is_not_berts_is_refused(tmp_path, changes, message):
    write(tmp_path, {}, **changes)
    with pytest.raises(ValueError, match=f"config.json: .*{message}"):
        load_config(tmp_path)


def test_a_config_of_2019_means_huggingfaces_activation(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"vocab_size": 9, "hidden_act": "gelu"}))
    # Without torch's weights beside it, the file may be Google's.
    assert load_config(tmp_path).hidden_act == "gelu"
    (tmp_path / "pytorch_model.bin").touch()
    assert load_config(tmp_path).hidden_act == "gelu_erf"


@pytest.mark.parametrize("names", [5, "BertModel", [5], {"0": "BertModel"}])
def test_architectures_of_another_type_are_refused(tmp_path, names):
    write(tmp_path, {}, architectures=names)
    with pytest.raises(ValueError, match="architectures"):
        read_architectures(tmp_path)


@pytest.mark.parametrize("read", [load_config, load_labels, read_architectures])
def test_a_config_that_is_no_json_object_is_named(tmp_path, read):
    for contents in ("[" * 100_000, "[]", "{", '{"hidden_size": 1e999}', ""):
        (tmp_path / "config.json").write_text(contents)
        with pytest.raises(ValueError, match="config.json"):
            read(tmp_path)
