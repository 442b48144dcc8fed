"""An export that scores lower than its model is refused, and replaces nothing.

test_checked_export_scores.py tests how exports are scored, and
tests/scripts/test_run_ner.py a model whose int8 is really worse.
"""

import types

import pytest

from model_folders import atomic_folders
from model_folders.scores import Scores
from tests.support.output_files import read_results, snapshot
from tests.support.tasks import toy_task
from training.fine_tuning.checked_export import check_export_scores
from training.task import Scoring

DEV_SETS = [types.SimpleNamespace(name="dev")]
NAN = float("nan")


class PercentTask(toy_task.ToyTask):
    """A task whose first metric is a percentage."""

    def __init__(self, starting_point):
        scoring = Scoring(("accuracy",), percentage_point=1.0)
        super().__init__(starting_point, scoring=scoring)


def check_score(
    folder, score, expected=0.9, task_class=toy_task.ToyTask, **flags
):
    """Compares the score of a LiteRT file with a model's."""
    flags |= {"export_dir": f"{folder}/export", "export_format": "litert"}
    config = toy_task.create_config(folder, **flags)
    starting_point = toy_task.create_starting_point(
        config, None, toy_task.load_tokenizer()
    )
    check_export_scores(
        task_class(starting_point),
        DEV_SETS,
        Scores({"accuracy": expected}),
        {"litert": Scores({"accuracy": score})},
    )


@pytest.mark.parametrize(
    ("score", "max_loss"),
    [(0.894, 0.5), (0.0, 0.5), (0.8999, 0.0), (NAN, 0.5), (NAN, 100.0)],
)
def test_a_worse_export_is_refused(tmp_path, score, max_loss):
    says = rf"litert file scores accuracy = {score:.4f} .* model's 0\.9000"
    with pytest.raises(ValueError, match=says):
        check_score(tmp_path, score, max_export_loss=max_loss)


@pytest.mark.parametrize(
    ("score", "max_loss"),
    [(0.9, 0.0), (0.91, 0.0), (0.896, 0.5), (0.895, 0.5), (0.0, 100.0)],
)
def test_an_export_as_good_as_the_flag_asks_is_accepted(
    tmp_path, score, max_loss
):
    check_score(tmp_path, score, max_export_loss=max_loss)


def test_an_export_is_accepted_without_a_score_of_the_model(tmp_path):
    check_score(tmp_path, 0.1, expected=NAN)


@pytest.mark.parametrize("score", [0.01, NAN])
def test_the_error_about_an_export_in_float_names_no_quantize(score, tmp_path):
    with pytest.raises(ValueError, match="nearly the same for all") as error:
        check_score(tmp_path, score)
    assert "--quantize" not in str(error.value)
    assert "--max_export_loss" in str(error.value)


def test_the_error_about_an_export_in_int8_names_quantize(tmp_path):
    with pytest.raises(ValueError, match="Export without --quantize, or"):
        check_score(tmp_path, 0.01, quantize="int8")


@pytest.mark.parametrize("score", [89.6, 90.0])
def test_a_metric_in_percent_may_lose_as_many_points(tmp_path, score):
    check_score(
        tmp_path,
        score,
        expected=90.0,
        task_class=PercentTask,
        max_export_loss=0.5,
    )


def test_a_metric_in_percent_may_not_lose_more_points(tmp_path):
    with pytest.raises(ValueError, match=r"0\.60 percentage points below"):
        check_score(
            tmp_path,
            89.4,
            expected=90.0,
            task_class=PercentTask,
            max_export_loss=0.5,
        )


def test_an_equal_score_is_logged_as_that_of_the_model(tmp_path, caplog):
    with caplog.at_level("INFO", logger="absl"):
        check_score(tmp_path, 0.9)
    assert caplog.messages == ["litert: accuracy 0.9000, as the model"]


class WorseExport(toy_task.ToyTask):
    """A task whose model has another score than its export."""

    def __init__(self, starting_point):
        super().__init__(starting_point, labels=("no", "yes"))
        self.scores = iter([0.9, 0.8])

    def compute_scores(self, encoded_set, batches):
        assert [*batches]
        return Scores({"accuracy": next(self.scores)})


def test_a_worse_export_replaces_nothing(tmp_path):
    export = tmp_path / "export"
    with atomic_folders.atomic_folder(export, {"earlier": "an export"}):
        pass
    before = snapshot(export)
    flags = toy_task.create_run_flags(
        tmp_path,
        max_seq_length=WorseExport.max_seq_length,
        num_train_epochs=0.4,
        do_train=True,
        do_eval=True,
        export_dir=str(export),
        export_format="saved_model",
    )
    with pytest.raises(ValueError, match=f"{export} was not written"):
        toy_task.run_task(WorseExport, flags)
    assert snapshot(export) == before
    assert [*tmp_path.glob("export*")] == [export]
    # The scores say why.
    scores = read_results(tmp_path / "run", "export_eval_results.txt")
    assert scores["saved_model_accuracy"] == 0.8
