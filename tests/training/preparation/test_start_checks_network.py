"""The network of a command must be that of its weights."""

import pytest

from model_folders.reading.preset import read_preset
from options.parsed_command import ParsedCommand
from tests.support.models import tiny_config
from tests.support.tasks.run_settings import write_left_to_right_run
from tests.support.tasks.toy_task import ToyTask, create_config, load_tokenizer
from training.preparation import start_checks
from training.preparation.starting_point_loading import read_initial_folder
from training.starting_point import StartingPoint


@pytest.fixture
def left_to_right(tmp_path):
    """The folder of a run that was trained with --left_to_right."""
    return write_left_to_right_run(tmp_path / "trained")


def check_network(folder, **changes):
    """Checks a task whose run is in a folder, by its weights."""
    config = create_config(folder, **changes)
    starting_point = StartingPoint(
        parsed=ParsedCommand(config),
        initial_folder=read_initial_folder(config),
        bert_config=tiny_config(),
        tokenizer=load_tokenizer(),
    )
    start_checks.check_task(ToyTask(starting_point))


@pytest.mark.parametrize("path", [".", "model.ckpt-3"])
def test_the_network_that_a_folder_states_is_read(left_to_right, path):
    network = read_preset(left_to_right / path).network_arguments
    assert network == {"left_to_right": True, "bilstm": False}


def test_a_run_of_another_network_is_not_evaluated(left_to_right):
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(left_to_right, do_eval=True)


def test_weights_of_another_network_are_not_evaluated(left_to_right, tmp_path):
    start = str(left_to_right)
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(tmp_path / "new", do_eval=True, init_checkpoint=start)


def test_weights_without_a_bilstm_are_not_evaluated_with_one(left_to_right):
    both = {"left_to_right": True, "bilstm": True}
    with pytest.raises(ValueError, match="bilstm=False"):
        check_network(left_to_right, do_eval=True, **both)


def test_a_training_keeps_the_network(left_to_right, tmp_path):
    flags = {"do_train": True, "init_checkpoint": str(left_to_right)}
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(tmp_path / "new", **flags)


def test_a_training_may_add_a_bilstm(left_to_right, tmp_path):
    flags = {"do_train": True, "init_checkpoint": str(left_to_right)}
    check_network(tmp_path / "new", **flags, left_to_right=True, bilstm=True)
