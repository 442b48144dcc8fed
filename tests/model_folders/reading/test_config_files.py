"""Which file describes weights, and whose file a config.json is."""

import json

from model_folders.reading import config_files


def test_weights_of_transformers_are_described_by_config_json(tmp_path):
    (tmp_path / "model.safetensors").touch()
    assert config_files.list_config_files(tmp_path, tmp_path) == [
        f"{tmp_path}/config.json",
        f"{tmp_path}/bert_config.json",
    ]


def test_other_weights_are_described_by_bert_config_json(tmp_path):
    prefix = tmp_path / "bert_model.ckpt"
    assert config_files.list_config_files(tmp_path, prefix) == [
        f"{tmp_path}/bert_config.json",
        f"{tmp_path}/config.json",
    ]


def test_a_config_of_2019_means_huggingfaces_activation(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"vocab_size": 9, "hidden_act": "gelu"}))
    # Without torch's weights beside it, the file may be Google's.
    assert config_files.load_config(tmp_path).hidden_act == "gelu"
    (tmp_path / "pytorch_model.bin").touch()
    assert config_files.load_config(tmp_path).hidden_act == "gelu_erf"
