"""The files that the flags of a model name."""

import pytest

from execution.model_flags import ModelFlags


def test_a_required_file_is_the_value_of_its_flag():
    model = ModelFlags(bert_config_file="config.json", vocab_file="vocab.txt")
    assert model.required_config_file == "config.json"
    assert model.required_vocab_file == "vocab.txt"


def test_a_required_file_that_nobody_checked_names_the_check():
    with pytest.raises(AssertionError, match="check_required"):
        ModelFlags().required_vocab_file  # noqa: B018  the property is computed
