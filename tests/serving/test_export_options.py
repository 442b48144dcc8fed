"""The options of an export, which every format checks in the same way."""

import pytest
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from serving.export_options import ExportOptions
from tests.support.paths import ROOT

VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"


def test_a_tokenizer_that_keeps_special_tokens_is_refused():
    keeping = FullTokenizer(VOCAB, special_tokens_in_strings=True)
    with pytest.raises(ValueError, match="special_tokens_in_strings"):
        ExportOptions(tokenizer=keeping)


def test_texts_become_inputs_of_the_maximum_length():
    tokenizer = FullTokenizer(VOCAB)
    packing = ExportOptions(tokenizer=tokenizer, max_seq_length=16).packing
    assert packing(tf.constant(["the boat"]))["input_ids"].shape == (1, 16)
