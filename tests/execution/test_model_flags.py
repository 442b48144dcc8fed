"""The files that the flags of a model name."""

import pytest

from execution.model_flags import ModelFlags, find_missing_flags
from model_folders.reading.presets import Preset


def test_a_required_file_is_the_value_of_its_flag():
    model = ModelFlags(bert_config_file="config.json", vocab_file="vocab.txt")
    assert model.required_config_file == "config.json"
    assert model.required_vocab_file == "vocab.txt"


def test_a_required_file_that_nobody_checked_names_the_check():
    with pytest.raises(AssertionError, match="check_required"):
        ModelFlags().required_vocab_file  # noqa: B018  the property is computed


def test_flags_without_a_value_are_missing():
    values = {"vocab_file": None, "max_seq_length": 0}
    assert find_missing_flags(values, None) == ["vocab_file"]


def test_a_folder_without_weights_is_named_before_the_flags(tmp_path):
    preset = Preset(str(tmp_path), str(tmp_path), "--init_checkpoint")
    assert find_missing_flags({"vocab_file": "v.txt"}, preset) == []
    with pytest.raises(FileNotFoundError, match=f"The folder {tmp_path}"):
        find_missing_flags({"vocab_file": None}, preset)
