"""The flags of a model."""

import pytest

from training.config.model_options import ModelOptions


def test_a_required_file_is_the_value_of_its_flag():
    model_options = ModelOptions(
        bert_config_file="config.json", vocab_file="vocab.txt"
    )
    assert model_options.required_config_file == "config.json"
    assert model_options.required_vocab_file == "vocab.txt"


def test_a_required_file_that_nobody_checked_names_the_check():
    with pytest.raises(AssertionError, match="check_required"):
        ModelOptions().required_vocab_file  # noqa: B018  the property is computed
