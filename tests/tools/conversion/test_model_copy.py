"""Which files the copy of a model has in each format."""

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.reading.preset import read_preset
from tests.support.models import built, tiny_config
from tests.support.paths import SAMPLES
from tools.conversion.model_copy import ModelCopy

# The file of the weights in each format.
FILES = {
    "tf1": "bert_model.ckpt.index",
    "huggingface": "model.safetensors",
    "kerashub": "model.weights.h5",
}


def write_encoder(folder, output_format):
    """Writes an encoder, and its copy. Returns the folder of the copy."""
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    config = tiny_config(vocab_size=len(tokenizer.tokens))
    model = built(modeling.BertModel(config))
    modeling.save_huggingface(model, folder / "model", tokenizer=tokenizer)
    (folder / "model/modules.json").write_text("[]")
    copy = folder / "copy"
    ModelCopy(
        preset=read_preset(folder / "model"), model=model, tokenizer=tokenizer
    ).write(str(copy), output_format)
    return copy


@pytest.mark.parametrize("output_format", FILES)
def test_a_copy_has_its_format_its_vocabulary_and_a_card(
    output_format, tmp_path
):
    copy = write_encoder(tmp_path, output_format)
    assert (copy / FILES[output_format]).exists()
    assert [*copy.rglob("vocab*.txt")]
    assert (copy / "README.md").exists()


def test_the_pooling_of_an_encoder_goes_with_the_copy(tmp_path):
    copy = write_encoder(tmp_path, "tf1")
    assert (copy / "modules.json").read_text() == "[]"
