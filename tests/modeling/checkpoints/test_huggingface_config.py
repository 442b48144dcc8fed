"""A Hugging Face config.json that is read, or refused by name.

model_folders/formats/huggingface_config.py converts it.
"""

import json

import pytest

from modeling import load_config
from tests.support.weights.huggingface_files import write_huggingface_files


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "roberta"},
        {"model_type": 5},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
        {"hidden_act": "relu2"},
        # test_bert_config.py has more values that BertConfig refuses.
        {"layer_norm_eps": "1e-12"},
    ],
)
def test_a_config_of_another_network_is_refused(tmp_path, changes):
    write_huggingface_files(tmp_path, {}, **changes)
    [name] = changes
    with pytest.raises(ValueError, match=f"config.json: `{name}"):
        load_config(tmp_path)


def test_a_config_of_2019_means_huggingfaces_activation(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"vocab_size": 9, "hidden_act": "gelu"}))
    # Without torch's weights beside it, the file may be Google's.
    assert load_config(tmp_path).hidden_act == "gelu"
    (tmp_path / "pytorch_model.bin").touch()
    assert load_config(tmp_path).hidden_act == "gelu_erf"
