"""Models that are created from the folder of their weights."""

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from tests.modeling.test_hub import RECORDED
from tests.models import built, tiny_config
from tests.script_runner import SAMPLES


def test_a_folder_tells_the_network_the_labels_and_the_vocabulary(tmp_path):
    config = tiny_config(vocab_size=1600)
    saved = built(modeling.BertClassifier(config, 3, left_to_right=True))
    modeling.save_release(
        saved,
        tmp_path / "model",
        FullTokenizer(SAMPLES / "vocab.txt"),
        ["a", "b", "c"],
        files={"model.json": MODEL},
    )
    model = modeling.BertClassifier.from_preset(tmp_path / "model")
    assert model.num_labels == 3 and model.bert.left_to_right
    weights = zip(model.weights, saved.weights, strict=True)
    assert all((one.numpy() == other.numpy()).all() for one, other in weights)
    tokenizer = FullTokenizer.from_preset(tmp_path / "model")
    assert tokenizer.do_lower_case and len(tokenizer.tokens) == 1600


MODEL = """{
"version": 1, "task": {"name": "BertClassifier"},
"origin": {"settings": {"left_to_right": true}}
}"""


def test_another_head_starts_at_random(caplog):
    model = modeling.BertClassifier.from_preset(RECORDED, num_labels=2)
    assert model.num_labels == 2 and "output_weights" in caplog.text
    encoder = modeling.BertModel.from_preset(RECORDED, unpad=True)
    assert encoder.unpad
    weights = zip(encoder.weights, model.bert.weights, strict=True)
    assert all((one.numpy() == other.numpy()).all() for one, other in weights)


def test_a_folder_without_a_model(tmp_path):
    for kind in (modeling.BertModel, FullTokenizer):
        with pytest.raises(FileNotFoundError, match=str(tmp_path)):
            kind.from_preset(tmp_path)
