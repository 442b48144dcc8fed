"""The files of the folders that are written for transformers."""

from modeling import (
    BertClassifier,
    BertModel,
    load_checkpoint,
    save_huggingface,
)
from tests.support.model_cases import assert_close
from tests.support.models import SMALL


def test_a_model_saved_without_a_tokenizer_has_three_files(tmp_path):
    save_huggingface(BertModel(SMALL), tmp_path / "saved")
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == [
        "config.json",
        "model.json",
        "model.safetensors",
    ]


def test_a_model_can_be_saved_before_its_first_call(tmp_path):
    model = BertClassifier(SMALL, num_labels=2)
    save_huggingface(model, tmp_path / "model")
    copy = BertClassifier(SMALL, num_labels=2)
    load_checkpoint(copy, tmp_path / "model")
    assert_close(copy.weights, model.get_weights(), 0)
