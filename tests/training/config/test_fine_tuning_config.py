"""What the flags of fine-tuning mean together, and which contradict."""

import pytest

from options.parsed_command import ParsedCommand
from tests.support.tasks.toy_task import create_config, create_flags
from training.config.classifier_config import ClassifierConfig
from training.config.training_config import NumSteps

# Flags of a command on one file.
ONE_FILE = {"data_dir": None, "data_file": "table.csv"}


def create_script_config(**flags):
    """Returns the Config of a script that has --data_file."""
    return ClassifierConfig.from_values(
        **create_flags("run", **flags),
    )


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"do_train": True}, ["train"]),
        ({"do_eval": True}, ["dev"]),
        ({"do_predict": True}, ["test"]),
        ({"do_train": True, "evaluate_each_epoch": True}, ["train", "dev"]),
        ({"do_train": True, "early_stopping_patience": 1}, ["train", "dev"]),
        # Only a training has epochs to evaluate after.
        ({"do_predict": True, "evaluate_each_epoch": True}, ["test"]),
    ],
)
def test_a_command_reads_the_sets_that_its_flags_need(flags, expected):
    assert create_config("run", **flags).set_names == expected


def test_the_numbers_of_steps_are_rounded_down():
    config = create_config(
        "run",
        train_batch_size=4,
        num_train_epochs=2.5,
        warmup_proportion=0.5,
    )
    # 11 examples are 6.875 steps in 2.5 epochs, and their half is 3.
    assert config.num_steps(11) == NumSteps(
        training=6, warmup=3, between_evaluations=2
    )


def test_a_training_of_no_step_is_refused():
    config = create_config("run", train_batch_size=8, num_train_epochs=0.5)
    says = "0.5 over 15 examples .* step of 8"
    with pytest.raises(ValueError, match=says):
        config.num_steps(15)


def test_the_best_step_needs_evaluations_to_choose_it():
    config = create_config("run", do_train=True, metric_for_best="accuracy")
    with pytest.raises(ValueError, match="--metric_for_best needs"):
        config.check(frozenset())


def test_a_data_file_and_a_data_dir_are_refused_together():
    config = create_script_config(data_file="table.csv")
    with pytest.raises(ValueError, match="either --data_file or --data_dir"):
        config.check_early()


def test_a_data_file_alone_trains_evaluates_and_exports():
    config = create_script_config(**ONE_FILE).with_implied_flags()
    assert config.training.do_train
    assert config.training.do_eval
    assert config.keeps_best
    assert config.export.export_dir == "run_model"


def test_a_data_file_changes_no_flag_that_the_user_set():
    config = create_script_config(**ONE_FILE, do_train=False)
    parsed = ParsedCommand(config, {"do_train": False}).apply_implied_flags()
    assert not parsed.config.training.do_train
    assert parsed.config.training.do_eval


def test_a_folder_of_sets_changes_no_flag():
    config = create_script_config(do_eval=True)
    assert config.with_implied_flags() == config


def test_predictions_of_a_data_file_are_refused():
    config = create_script_config(**ONE_FILE, do_predict=True)
    with pytest.raises(ValueError, match="--do_predict needs --data_dir"):
        config.check(frozenset())


def test_a_report_needs_an_evaluation():
    config = create_script_config(do_train=True, report=True)
    with pytest.raises(ValueError, match="--report needs --do_eval"):
        config.check(frozenset())


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"do_eval": True}, ("data_dir",)),
        ({"do_eval": True, **ONE_FILE}, ()),
        ({"export_dir": "export"}, ()),
    ],
)
def test_only_a_command_that_reads_sets_needs_their_folder(flags, expected):
    config = create_script_config(**flags)
    assert config.required_data_flags == expected
