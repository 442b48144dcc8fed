"""The tokenizer that fits a model."""

import json

import pytest

from data.text.tokenization import load_tokenizer
from model_folders.reading.preset import read_preset

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture
def vocab_file(tmp_path):
    """A vocabulary of ten WordPieces."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *"abcde"]) + "\n")
    return path


def write_casing(folder, do_lower_case):
    """Writes that the tokenizer of a folder lower-cases, or does not."""
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({"do_lower_case": do_lower_case}))


def test_load_tokenizer_reads_the_vocabulary(vocab_file):
    tokenizer = load_tokenizer(vocab_file, do_lower_case=True)
    assert [*tokenizer.vocab] == [*SPECIAL, *"abcde"]
    assert tokenizer.tokenize("A b") == ["a", "b"]


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_load_tokenizer_has_the_casing_beside_the_vocabulary(
    tmp_path, vocab_file, do_lower_case
):
    write_casing(tmp_path, do_lower_case)
    assert load_tokenizer(vocab_file).do_lower_case is do_lower_case


@pytest.mark.parametrize("vocab_size", [None, 10, 20])
def test_load_tokenizer_accepts_the_size_of_a_new_model(vocab_file, vocab_size):
    load_tokenizer(vocab_file, True, vocab_size=vocab_size)


@pytest.mark.parametrize("vocab_size", [9, 21])
def test_load_tokenizer_refuses_another_size_of_a_new_model(
    vocab_file, vocab_size
):
    with pytest.raises(
        ValueError,
        match=rf"10 .* vocab_size is {vocab_size}; .* 10 in a\.json",
    ):
        load_tokenizer(
            vocab_file, True, vocab_size=vocab_size, config_file="a.json"
        )


def test_load_tokenizer_accepts_unused_rows_of_trained_weights(
    tmp_path, vocab_file
):
    preset = read_preset(tmp_path)
    load_tokenizer(vocab_file, True, preset, vocab_size=21)


def test_load_tokenizer_refuses_more_wordpieces_than_trained_weights(
    tmp_path, vocab_file
):
    preset = read_preset(tmp_path)
    with pytest.raises(ValueError, match=r"10.*9"):
        load_tokenizer(vocab_file, True, preset, vocab_size=9)


def test_load_tokenizer_refuses_a_casing_that_contradicts_the_files(
    tmp_path, vocab_file
):
    write_casing(tmp_path, do_lower_case=False)
    with pytest.raises(ValueError, match="do_lower_case"):
        load_tokenizer(vocab_file, True)
