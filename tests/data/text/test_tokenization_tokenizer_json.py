"""Vocabularies in a tokenizer.json, in the format that transformers 5 saves."""

import gzip

import pytest

from data.text import tokenization
from tests.support.tokenizers.tokenizer_json import (
    SAVED,
    TOKENS,
    write_tokenizer_json,
)


@pytest.fixture(params=["tokenizer.json", "x.json.gz"])
def tokenizer(request, tmp_path):
    """The tokenizer of a tokenizer.json, compressed or not."""
    path = write_tokenizer_json(tmp_path / "tokenizer.json")
    if request.param.endswith(".gz"):
        compressed = gzip.compress(path.read_bytes())
        path = tmp_path / request.param
        path.write_bytes(compressed)
    return tokenization.FullTokenizer(path, None)


def test_a_tokenizer_json_has_the_words_of_its_vocab_txt(tokenizer):
    assert tokenizer.tokens == TOKENS
    expected = "".join(f"{token}\n" for token in TOKENS)
    assert tokenizer.vocabulary.contents.decode() == expected


def test_a_tokenizer_json_cuts_text_as_it_states(tokenizer):
    assert tokenizer.do_lower_case
    assert tokenizer.tokenize("Unable É") == ["un", "##able", "[UNK]"]


def test_the_words_of_an_older_file_may_be_in_any_order(tmp_path):
    shuffled = dict(sorted(SAVED["model"]["vocab"].items()))
    changes = ("model", "vocab", shuffled), ("model", "type", None)
    path = write_tokenizer_json(tmp_path / "tokenizer.json", changes)
    tokenizer = tokenization.FullTokenizer(path, None)
    assert tokenizer.vocab == dict(zip(TOKENS, range(8), strict=True))


def test_the_casing_is_that_of_the_file(tmp_path):
    change = "normalizer", "lowercase", False
    path = write_tokenizer_json(tmp_path / "tokenizer.json", [change])
    assert not tokenization.FullTokenizer(path, None).do_lower_case
    tokenizer = tokenization.FullTokenizer(path, do_lower_case=False)
    assert tokenizer.tokenize("é Unable") == ["é", "[UNK]"]
    with pytest.raises(ValueError, match="--do_lower_case=False"):
        tokenization.FullTokenizer(path)


def test_added_tokens_have_their_rows(tmp_path):
    """As in a vocab.txt, rows that nothing has are empty lines."""
    added = [{"id": 10, "content": "[E1]"}, {"id": 2, "content": "[CLS]"}]
    path = write_tokenizer_json(
        tmp_path / "a.json", [(None, "added_tokens", added)]
    )
    tokenizer = tokenization.FullTokenizer(path)
    assert tokenizer.tokens == [*TOKENS, "", "", "[E1]"]
    tokenizer.vocabulary.check_size(11)


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        (("model", "type", "BPE"), "model.type"),
        (("model", "unk_token", "<unk>"), "model.unk_token"),
        (("normalizer", "strip_accents", False), "normalizer.strip_accents"),
        (("normalizer", "lowercase", "no"), "normalizer.lowercase"),
        ((None, "pre_tokenizer", {"type": "Metaspace"}), "pre_tokenizer.type"),
        (("model", "vocab", {"a": 0, "b": 0}), "model.vocab"),
        ((None, "added_tokens", [{"id": 7, "content": "un"}]), "added_tokens"),
        ((None, "model", []), "model"),
    ],
)
def test_another_tokenizer_than_berts_is_refused(tmp_path, change, culprit):
    path = write_tokenizer_json(tmp_path / "tokenizer.json", [change])
    with pytest.raises(ValueError, match=f"^{path}: .*{culprit}"):
        tokenization.FullTokenizer(path)


def test_a_vocab_txt_with_other_words_is_refused(tmp_path):
    saved = write_tokenizer_json(tmp_path / "tokenizer.json")
    file = tmp_path / "vocab.txt"
    # Lines that repeat or contain only white space may differ.
    text = "".join(f"{token} \n" for token in TOKENS)
    file.write_text(f"{text}\nun\n")
    tokens = tokenization.load_tokenizer(file).tokens
    assert tokens[: len(TOKENS)] == TOKENS
    file.write_text(text.replace("un \n", "on \n"))
    with pytest.raises(ValueError, match=f"{saved}.*'on'.*'un'"):
        tokenization.load_tokenizer(file)
