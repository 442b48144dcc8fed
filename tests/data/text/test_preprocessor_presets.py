"""A preprocessor is read from a folder of weights, or from its own config."""

import json

import pytest

import modeling
from data.text import BertTextClassifierPreprocessor
from tests.support.paths import SAMPLES
from tests.support.tokenizers.preprocessor_cases import assert_same


@pytest.fixture
def folder(tmp_path, classifier):
    """A folder with weights and a vocabulary."""
    classifier.build()
    modeling.save_huggingface(classifier, tmp_path)
    (tmp_path / "vocab.txt").write_bytes((SAMPLES / "vocab.txt").read_bytes())
    return tmp_path


def write_tokenizer_config(folder, **settings):
    """Writes what a folder states about its tokenizer."""
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


@pytest.mark.parametrize("do_lower_case", [False, True])
def test_from_preset_reads_the_casing(folder, do_lower_case):
    write_tokenizer_config(folder, do_lower_case=do_lower_case)
    preprocessor = BertTextClassifierPreprocessor.from_preset(folder)
    assert preprocessor.tokenizer.do_lower_case == do_lower_case


@pytest.mark.parametrize(
    ("settings", "length"), [({}, 32), ({"model_max_length": 20}, 20)]
)
def test_from_preset_reads_the_length(folder, settings, length):
    """The network's, if the folder states none."""
    write_tokenizer_config(folder, do_lower_case=True, **settings)
    preprocessor = BertTextClassifierPreprocessor.from_preset(folder)
    assert preprocessor.sequence_length == length


def test_from_preset_takes_options(folder):
    write_tokenizer_config(folder, do_lower_case=True)
    preprocessor = BertTextClassifierPreprocessor.from_preset(
        folder, special_tokens_in_strings=True, name="text"
    )
    assert preprocessor.name == "text"
    ids = preprocessor("[MASK]")["input_ids"][0].numpy()
    assert ids[1] == preprocessor.tokenizer.id_of("[MASK]")


def test_a_preprocessor_comes_back_from_its_config(folder):
    write_tokenizer_config(folder, do_lower_case=True, model_max_length=20)
    preprocessor = BertTextClassifierPreprocessor.from_preset(
        folder, special_tokens_in_strings=True, name="text"
    )
    config = json.loads(json.dumps(preprocessor.get_config()))
    again = BertTextClassifierPreprocessor.from_config(config)
    assert again.get_config() == preprocessor.get_config()
    assert_same(again(["a [MASK]"]), preprocessor(["a [MASK]"]))
