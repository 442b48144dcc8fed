"""The files of a run's results."""

import os

import pytest

from model_folders.scores import Evaluation, LabelScores, Scores
from tests.support.output_files import read_results
from tests.support.tasks import toy_task
from training.run_files.result_files import ResultFiles, log_scores


@pytest.fixture
def results(tmp_path):
    """The results of a run in `tmp_path`."""
    return ResultFiles(tmp_path, is_chief=True)


def test_scores_are_sorted_lines_as_google_writes_them(results, tmp_path):
    scores = Scores({"eval_accuracy": 0.5})
    results.write_dev_scores(Evaluation(3, scores))
    text = (tmp_path / "eval_results.txt").read_text()
    assert text == "eval_accuracy = 0.5\nglobal_step = 3\n"


def test_the_scores_of_a_second_test_set_are_in_a_file_of_their_own(
    results, tmp_path
):
    scores = Scores({"eval_accuracy": 0.5})
    results.write_test_scores(Evaluation(3, scores), "_mm")
    assert (tmp_path / "test_eval_results_mm.txt").is_file()


def test_the_scores_of_an_export_name_its_formats(results, tmp_path):
    results.write_export_scores(
        {
            "saved_model": Scores({"f1": 0.5}),
            "litert": Scores({"f1": 0.25, "f1_mm": 0.3}),
        }
    )
    assert read_results(tmp_path, "export_eval_results.txt") == {
        "litert_f1": 0.25,
        "litert_f1_mm": 0.3,
        "saved_model_f1": 0.5,
    }


def test_a_worker_logs_its_scores_and_writes_no_file(tmp_path, caplog):
    evaluation = Evaluation(3, Scores({"f1": 0.5}))
    with caplog.at_level("INFO", logger="absl"):
        ResultFiles(tmp_path, is_chief=False).write_dev_scores(evaluation)
    assert "f1" in caplog.text
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("age", "is_named"),
    [
        pytest.param(10, True, id="before this command"),
        pytest.param(-10, False, id="by this command"),
    ],
)
def test_results_that_an_earlier_command_wrote_are_named(
    results, tmp_path, caplog, age, is_named
):
    begin_time = 1_000_000
    path = tmp_path / "predictions.csv"
    path.touch()
    os.utime(path, (begin_time - age, begin_time - age))
    results.warn_of_earlier_files(begin_time)
    assert (str(path) in caplog.text) == is_named


def test_reports_and_predictions_are_shown_at_the_end(results, tmp_path):
    for name in ("report.html", "predictions.csv", "eval_results.txt"):
        (tmp_path / name).touch()
    assert results.list_shown_files() == [
        str(tmp_path / "report.html"),
        str(tmp_path / "predictions.csv"),
    ]


def test_results_of_earlier_weights_are_named(tmp_path, caplog):
    """The file stays, as it may be the user's, but is not of these weights."""
    flags = toy_task.create_run_flags(
        tmp_path, max_seq_length=8, do_train=True, do_eval=True
    )
    results = tmp_path / "run/eval_results.txt"

    def train(epochs, **changes):
        changes["num_train_epochs"] = epochs
        caplog.clear()
        toy_task.run_task(toy_task.ToyTask, flags | changes)
        return str(results) in caplog.text

    assert not train(1)
    # Nothing is left to train.
    assert not train(1, do_eval=False)
    assert train(2, do_eval=False)
    assert "global_step = 3" in results.read_text()
    assert not train(3)


def test_scores_of_single_labels_are_rows_of_a_table(caplog):
    scores = Scores(
        {"accuracy": 0.5, "HasAns_f1": 0.25},
        [
            LabelScores("not", 0.75, 0.75, 0.75, 12.0, set_suffix="_mm"),
            LabelScores("a b", 1.0, 1.0, 1.0, 12),
        ],
    )
    with caplog.at_level("INFO", logger="absl"):
        log_scores(Evaluation(12, scores))
    assert caplog.messages[0].splitlines()[1:] == [
        "  HasAns_f1       0.2500",
        "  accuracy        0.5000",
        "  global_step         12",
        "  label        precision     recall         f1    support",
        "  a b             1.0000     1.0000     1.0000         12",
        "  not_mm          0.7500     0.7500     0.7500         12",
    ]
