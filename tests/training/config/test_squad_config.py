"""The files that the flags of run_squad.py make it read."""

import pytest

from training.config.squad_config import SquadConfig

FILES = {"train_file": "train.json", "predict_file": "dev.json"}


def test_each_set_has_the_file_of_its_flag():
    config = SquadConfig.from_values(output_dir="", **FILES)
    assert config.files_of("train") == ["train.json"]
    assert config.files_of("dev") == ["dev.json"]


def test_a_set_without_its_flag_has_no_file():
    config = SquadConfig.from_values(output_dir="")
    assert config.files_of("train") == []


def test_a_training_needs_the_questions_to_train_on():
    config = SquadConfig.from_values(output_dir="", do_train=True)
    assert config.required_data_flags == ("train_file",)


def test_a_prediction_needs_the_questions_to_answer():
    config = SquadConfig.from_values(output_dir="", do_predict=True)
    assert config.required_data_flags == ("predict_file",)


def test_a_report_needs_predictions():
    config = SquadConfig.from_values(
        output_dir="", do_train=True, report=True, **FILES
    )
    with pytest.raises(ValueError, match="--report needs --do_predict"):
        config.check(frozenset({"report"}))
