"""Fixtures of the tests of data/squad/."""

import pytest


@pytest.fixture
def tokenizer(create_tokenizer):
    """A tokenizer of single letters, and of Chinese characters."""
    words = "[PAD] [UNK] [CLS] [SEP] a b c d . , ##d ##e q"
    return create_tokenizer([*words.split(), *"黑豹队丢了分多少"])
