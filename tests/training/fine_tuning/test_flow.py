"""Fine-tuning as a whole: what it leaves for the next command."""

import signal

import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support.output_files import read_results
from tests.support.tasks import toy_task
from tests.support.tasks.toy_task import ToyTask, run_task
from training.fine_tuning.flow import fine_tune
from training.loop.ending import STOPPED_STATUS
from training.preparation.starting_point_loading import load_starting_point
from training.run_files.history import HISTORY_FILE, read_history


class OtherDevSetTask(ToyTask):
    """The task with more examples, so its dev set is another one."""

    num_examples = 16


class UnknownClassifier(toy_task.BertClassifier):
    """A model of a class of which no signatures are defined."""


class UnknownTask(ToyTask):
    """A task whose model cannot be exported."""

    def create_model(self, bert_config, **arguments):
        return UnknownClassifier(bert_config, 2, **arguments)


class SignaledTask(ToyTask):
    """A task whose first evaluation, after an epoch, receives SIGTERM."""

    def compute_scores(self, *arguments):
        signal.raise_signal(signal.SIGTERM)
        return super().compute_scores(*arguments)


def create_run_flags(folder, **changes):
    """Returns {flag: value} of a training of an epoch: 3 batches of 4."""
    flags = {"do_train": True, "max_seq_length": 8, "num_train_epochs": 1}
    return toy_task.create_run_flags(folder, **flags | changes)


def read_evaluation(folder):
    """Returns the only line of an evaluation in the history of FOLDER/run."""
    lines = read_history(folder / "run" / HISTORY_FILE)
    (line,) = [line for line in lines if line["kind"] == "eval"]
    return line


def test_a_training_ends_with_a_checkpoint_of_its_last_step(tmp_path):
    run_task(ToyTask, create_run_flags(tmp_path))
    assert list_checkpoint_steps(tmp_path / "run") == [3]


def test_a_longer_command_goes_on_after_the_last_step(tmp_path, caplog):
    run_task(ToyTask, create_run_flags(tmp_path))
    with caplog.at_level("INFO", logger="absl"):
        run_task(ToyTask, create_run_flags(tmp_path, num_train_epochs=2))
    assert f"{tmp_path}/run/model.ckpt-3" in caplog.text
    assert list_checkpoint_steps(tmp_path / "run") == [3, 6]


def test_a_training_that_a_signal_stops_writes_no_results(tmp_path):
    flags = create_run_flags(
        tmp_path, do_eval=True, num_train_epochs=2, early_stopping_patience=1
    )
    starting_point = load_starting_point(toy_task.create_command(flags))
    with pytest.raises(SystemExit) as stopped:
        fine_tune(SignaledTask(starting_point))
    assert stopped.value.code == STOPPED_STATUS
    assert list_checkpoint_steps(tmp_path / "run") == [3]
    assert not (tmp_path / "run" / "eval_results.txt").exists()


def test_an_evaluation_writes_the_scores_of_the_task(tmp_path):
    run_task(ToyTask, create_run_flags(tmp_path, do_eval=True))
    assert read_results(tmp_path / "run")["accuracy"] == 0.5


def test_the_history_tells_scores_on_other_dev_sets_apart(tmp_path):
    run_task(ToyTask, create_run_flags(tmp_path, do_eval=True))
    first = read_evaluation(tmp_path)
    run_task(
        OtherDevSetTask,
        create_run_flags(tmp_path, do_train=False, do_eval=True),
    )
    second = read_evaluation(tmp_path)
    assert first["step"] == second["step"] == 3
    assert first["dev_set"] != second["dev_set"]


def test_a_model_that_cannot_be_exported_is_not_trained(tmp_path):
    flags = create_run_flags(tmp_path, export_dir=str(tmp_path / "export"))
    with pytest.raises(ValueError, match="are defined for a UnknownClassifier"):
        run_task(UnknownTask, flags)
    assert not list_checkpoint_steps(tmp_path / "run")
