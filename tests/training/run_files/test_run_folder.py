"""Which evaluations become lines of a run's history."""

import pytest

from model_folders.scores import Evaluation, Scores
from tests.support.models import tiny_config
from tests.support.output_files import read_results
from tests.support.tasks import toy_task
from training.run_files.history import HISTORY_FILE, read_history
from training.run_files.run_folder import RunFolder

EVALUATION = Evaluation(3, Scores({"accuracy": 0.25}))


@pytest.fixture
def open_folder(tmp_path):
    """(dev_set_checksum) -> the folder of a run that evaluates this dev set."""
    config = toy_task.create_config(tmp_path, do_eval=True)
    starting_point = toy_task.create_starting_point(
        config, tiny_config(vocab_size=1600)
    )

    def open_folder(dev_set_checksum):
        return RunFolder.open(starting_point, dev_set_checksum=dev_set_checksum)

    return open_folder


def test_an_evaluation_is_written_as_google_does(open_folder, tmp_path):
    open_folder(7).write_evaluation(EVALUATION)
    assert read_results(tmp_path)["accuracy"] == 0.25


def test_an_evaluation_is_a_line_of_the_history(open_folder, tmp_path):
    open_folder(7).write_evaluation(EVALUATION)
    (line,) = read_history(tmp_path / HISTORY_FILE)
    assert (line["kind"], line["metrics"]) == ("eval", {"accuracy": 0.25})
    assert line["dev_set"] == 7


def test_the_history_keeps_the_scores_on_the_dev_set_of_the_run(
    open_folder, tmp_path
):
    first = Evaluation(3, Scores({"accuracy": 0.75}))
    open_folder(7).history.add_evaluation(first)
    run_folder = open_folder(8)
    run_folder.best_step.record(3)
    run_folder.write_evaluation(EVALUATION)
    (line,) = read_history(tmp_path / HISTORY_FILE)
    assert line["metrics"] == {"accuracy": 0.75}
    assert read_results(tmp_path)["accuracy"] == 0.25


def test_the_step_that_a_command_evaluated_has_its_scores(open_folder):
    run_folder = open_folder(7)
    scores = run_folder.find_dev_scores(3, EVALUATION)
    assert scores == EVALUATION.scores


def test_the_best_step_has_the_scores_that_it_was_chosen_by(open_folder):
    run_folder = open_folder(7)
    best = Evaluation(2, Scores({"accuracy": 0.75}))
    run_folder.history.add_evaluation(best)
    run_folder.best_step.record(2)
    scores = run_folder.find_dev_scores(2, EVALUATION)
    assert scores.overall == {"accuracy": 0.75}


def test_a_step_that_was_not_evaluated_has_no_scores(open_folder):
    run_folder = open_folder(7)
    assert run_folder.find_dev_scores(2, EVALUATION) == Scores()
