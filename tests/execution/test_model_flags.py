"""The files that the flags of a model name."""

import pytest

from execution.model_flags import ModelFlags, check_required
from model_folders.reading.presets import Preset
from tests.support.tasks.toy_task import create_config


def test_a_required_file_is_the_value_of_its_flag():
    model = ModelFlags(bert_config_file="config.json", vocab_file="vocab.txt")
    assert model.required_config_file == "config.json"
    assert model.required_vocab_file == "vocab.txt"


def test_a_required_file_that_nobody_checked_names_the_check():
    with pytest.raises(AssertionError, match="check_required"):
        ModelFlags().required_vocab_file  # noqa: B018  the property is computed


def test_without_weights_the_files_of_random_weights_are_asked_for():
    config = create_config("run", bert_config_file=None, vocab_file=None)
    says = (
        r"^missing required flags: --init_checkpoint \(or --bert_config_file "
        r"and --vocab_file, for random weights\)$"
    )
    with pytest.raises(ValueError, match=says):
        check_required(config, config.required_flags, None)


def test_all_missing_flags_are_named_at_once():
    config = create_config("run", max_seq_length=None)
    names = ("max_seq_length", "init_checkpoint")
    with pytest.raises(ValueError, match="missing required flags") as caught:
        check_required(config, names, None)
    assert "--max_seq_length, --init_checkpoint" in str(caught.value)


def test_flags_that_are_set_are_not_missing():
    config = create_config("run")
    check_required(config, ("bert_config_file", "vocab_file"), None)


def test_a_folder_without_weights_is_named_before_the_flags(tmp_path):
    preset = Preset(str(tmp_path), str(tmp_path), "--init_checkpoint")
    check_required(create_config("run"), ("vocab_file",), preset)
    config = create_config("run", vocab_file=None)
    with pytest.raises(FileNotFoundError, match=f"The folder {tmp_path}"):
        check_required(config, ("vocab_file",), preset)
