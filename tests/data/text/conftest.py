"""Fixtures of the tests of data/text/: tokenizers, and layers on them."""

import pytest

import modeling
from data.text import BertTextClassifierPreprocessor, FullTokenizer
from tests.support.paths import SAMPLES
from tests.support.tokenizers.preprocessor_cases import LENGTH


@pytest.fixture(scope="session")
def sample_tokenizer():
    """The tokenizer of the samples."""
    return FullTokenizer(SAMPLES / "vocab.txt")


@pytest.fixture(scope="session")
def preprocessor(sample_tokenizer):
    """The preprocessor on the tokenizer of the samples."""
    return BertTextClassifierPreprocessor(sample_tokenizer, LENGTH)


@pytest.fixture
def letters_layer(create_tokenizer):
    """The TokenizerLayer of single letters: [CLS] 2, [SEP] 3, a 4, b 5, c 6."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    return create_tokenizer([*special, "a", "b", "c", "[MASK]"]).layer


@pytest.fixture
def classifier():
    """A classifier of three classes, with new weights."""
    config = modeling.BertConfig(
        vocab_size=len(FullTokenizer(SAMPLES / "vocab.txt").tokens),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return modeling.BertClassifier(config, num_labels=3, seed=1)
