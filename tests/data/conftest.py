"""Fixtures of the tests of data/."""

import pytest

from data.pretraining import corpus_parts
from data.text import tokenization


@pytest.fixture
def create_tokenizer(tmp_path):
    """A function that writes the tokens of a vocabulary, and loads it."""

    def create(tokens, do_lower_case=True):
        path = tmp_path / "vocab.txt"
        path.write_text("\n".join(tokens) + "\n", "utf-8")
        return tokenization.FullTokenizer(path, do_lower_case)

    return create


@pytest.fixture
def tokenizer(create_tokenizer):
    """A tokenizer of single letters, which reads ad as a ##d."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    return create_tokenizer([*special, "a", "b", "c", "##d", "##e", "d", "."])


@pytest.fixture
def small_parts(monkeypatch):
    """Cuts the sample corpora into parts, too."""
    monkeypatch.setattr(corpus_parts, "_MIN_PART_BYTES", 300)
