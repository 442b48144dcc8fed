"""The files of a tokenizer in folders of models, and warnings of odd ones."""

import json

import pytest

from data.text import tokenization
from model_folders.tokenizer_files import (
    create_tokenizer_files,
    create_vocab_files,
    format_tokenizer_config,
    warn_of_tokenizer,
)


def test_a_folder_like_googles_states_the_casing_beside_the_words(tmp_path):
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("[UNK]\nA\n")
    tokenizer = tokenization.FullTokenizer(vocab_file, do_lower_case=False)
    files = create_vocab_files(tokenizer, 16)
    assert files.keys() == {"vocab.txt", "tokenizer_config.json"}
    assert files["vocab.txt"] == b"[UNK]\nA\n"
    stated = json.loads(files["tokenizer_config.json"])
    assert stated["do_lower_case"] is False
    assert stated["model_max_length"] == 16


def test_a_vocabulary_without_a_model_states_no_length():
    assert "model_max_length" not in json.loads(format_tokenizer_config(True))


def test_a_vocabulary_in_another_encoding_is_named(tmp_path):
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_bytes(b"[PAD]\n[UNK]\n\xe9\n")
    tokenizer = tokenization.FullTokenizer(vocab_file)
    with pytest.raises(ValueError, match=f"^{vocab_file}: .*as UTF-8$"):
        create_tokenizer_files(tokenizer, 16)


def test_a_vocabulary_may_lack_the_padding(tmp_path):
    """Google's code pads with the id 0, whatever its WordPiece is."""
    words = "[unused0] [UNK] [CLS] [SEP] [MASK] a b"
    (tmp_path / "vocab.txt").write_text("\n".join(words.split()))
    tokenizer = tokenization.FullTokenizer(tmp_path / "vocab.txt")
    files = create_tokenizer_files(tokenizer, 16)
    assert "[PAD]" not in json.loads(files["tokenizer.json"])["model"]["vocab"]
    with pytest.raises(ValueError, match=r"\[PAD\] not found"):
        create_tokenizer_files(tokenizer, 16, 7)


@pytest.fixture(autouse=True)
def forget_warnings():
    """Lets each test warn anew."""
    warn_of_tokenizer.cache_clear()


def test_a_warning_is_logged_once(caplog):
    for _ in range(3):
        warn_of_tokenizer("model: no vocab.txt")
    assert [record.getMessage() for record in caplog.records] == [
        "model: no vocab.txt"
    ]
    assert caplog.records[0].levelname == "WARNING"


def test_two_different_warnings_are_both_logged(caplog):
    warn_of_tokenizer("a: odd")
    warn_of_tokenizer("b: odd")
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["a: odd", "b: odd"]


def test_a_percent_sign_of_a_path_stays_in_the_message(caplog):
    warn_of_tokenizer("100%s/model: odd")
    assert caplog.records[0].getMessage() == "100%s/model: odd"
