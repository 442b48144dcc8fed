"""The vocabulary in a tokenizer.json, and tokenizers that are not BERT's."""

import pytest

from model_folders.formats.huggingface_vocabulary import parse_tokenizer
from tests.support.tokenizers.tokenizer_json import TOKENS, write_tokenizer_json

IDS = {token: row for row, token in enumerate(TOKENS)}


@pytest.fixture
def parse_changed(tmp_path):
    """(*changes) -> what is parsed of a file as `write_tokenizer_json`."""

    def parse_changed(*changes):
        path = write_tokenizer_json(tmp_path / "tokenizer.json", changes)
        return parse_tokenizer(path.read_bytes(), str(path))

    return parse_changed


def test_parse_tokenizer_returns_the_vocabulary_as_vocab_txt(parse_changed):
    vocabulary, _ = parse_changed()
    assert vocabulary.decode() == "".join(f"{token}\n" for token in TOKENS)


def test_parse_tokenizer_leaves_unused_ids_empty(parse_changed):
    vocabulary, _ = parse_changed(("model", "vocab", IDS | {"new": 10}))
    assert vocabulary.decode().splitlines()[8:] == ["", "", "new"]


def test_parse_tokenizer_adds_the_words_of_a_user(parse_changed):
    added = [{"id": 8, "content": "[E1]"}]
    vocabulary, _ = parse_changed((None, "added_tokens", added))
    assert vocabulary.decode().splitlines()[8:] == ["[E1]"]


@pytest.mark.parametrize("lowercase", [True, False])
def test_parse_tokenizer_returns_the_casing(parse_changed, lowercase):
    assert parse_changed(("normalizer", "lowercase", lowercase))[1] is lowercase


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("model", "type", "BPE"),
        ("model", "unk_token", "<unk>"),
        ("model", "continuing_subword_prefix", ""),
        ("pre_tokenizer", "type", "ByteLevel"),
        ("normalizer", "type", "NFC"),
        ("normalizer", "handle_chinese_chars", False),
        ("normalizer", "strip_accents", False),
        ("normalizer", "lowercase", "yes"),
    ],
)
def test_parse_tokenizer_refuses_another_tokenizer(
    parse_changed, section, name, value
):
    with pytest.raises(ValueError, match=rf"`{section}\.{name}` must be"):
        parse_changed((section, name, value))


@pytest.mark.parametrize(
    ("section", "name", "value", "error"),
    [
        ("model", "vocab", IDS | {"twice": 7}, "must agree"),
        ("model", "vocab", IDS | {"a\nb": 8}, "must agree"),
        ("model", "vocab", IDS | {"a": -1}, "`model.vocab` must list"),
        ("model", "vocab", [*IDS], "`model.vocab` must list"),
        (None, "added_tokens", [{"id": 5, "content": "[E1]"}], "must agree"),
        (None, "added_tokens", ["[E1]"], "`added_tokens` must list"),
    ],
)
def test_parse_tokenizer_refuses_ids_that_are_none(
    parse_changed, section, name, value, error
):
    with pytest.raises(ValueError, match=error):
        parse_changed((section, name, value))


def test_parse_tokenizer_does_not_fill_the_memory_for_one_large_id(
    parse_changed,
):
    with pytest.raises(ValueError, match="the id of 'far' is 5000000"):
        parse_changed(("model", "vocab", IDS | {"far": 5_000_000}))


def test_parse_tokenizer_refuses_the_file_of_kerashub():
    contents = b'{"class_name": "BertTokenizer", "config": {}}'
    with pytest.raises(
        ValueError, match=r"tokenizer\.json contains no vocabulary"
    ):
        parse_tokenizer(contents, "tokenizer.json")
