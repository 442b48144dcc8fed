"""Vocabularies are read as Google's code reads them."""

import gzip

import pytest

from data.text import vocabulary_files
from tests.support.tokenizers.tokenizer_json import (
    TOKENS,
    write_tokenizer_json,
)


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"\xef\xbb\xbf[PAD]\r\na\x0bb\n")
    vocabulary = vocabulary_files.read_vocabulary(path)
    assert vocabulary.tokens == ["[PAD]", "a\x0bb"]
    assert vocabulary.contents == b"[PAD]\r\na\x0bb\n"
    assert vocabulary.stated_casing is None


def test_a_compressed_vocabulary_is_decompressed(tmp_path):
    path = tmp_path / "vocab.txt.gz"
    path.write_bytes(gzip.compress(b"[PAD]\nthe\n"))
    vocabulary = vocabulary_files.read_vocabulary(path)
    assert vocabulary.tokens == ["[PAD]", "the"]
    assert vocabulary.contents == b"[PAD]\nthe\n"


def test_a_tokenizer_json_states_its_casing(tmp_path):
    path = write_tokenizer_json(tmp_path / "tokenizer.json")
    vocabulary = vocabulary_files.read_vocabulary(path)
    assert vocabulary.tokens == TOKENS
    assert vocabulary.stated_casing is True


def test_a_vocabulary_in_utf_16_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\nthe\n", encoding="utf-16")
    with pytest.raises(ValueError, match=r"vocab\.txt, line 1: .*not UTF-8"):
        vocabulary_files.read_vocabulary(path)
