"""What a fine-tuning writes and says at its end."""

import pytest

import modeling
from model_folders.scores import LabelScores, Scores
from tests.support.log_lines import logged_warnings
from tests.support.models import SMALL, tiny_config
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_starting_point,
    create_trainer,
    load_tokenizer,
)
from training.fine_tuning.encoded_sets import write_encoded_sets
from training.fine_tuning.fine_tuner import FineTuner
from training.fine_tuning.flow import end_with_scores, end_without_scores
from training.run_files.history import HISTORY_FILE, read_history
from training.task import Scoring


class WholeModelTask(ToyTask):
    """A task whose model can be exported."""

    def create_model(self, bert_config, **arguments):
        return modeling.BertClassifier(bert_config, 2, **arguments)


class PredictedDevSetTask(ToyTask):
    """A task that evaluates its dev set, and then predicts it."""

    def __init__(self, starting_point):
        super().__init__(starting_point, test_sets=("dev",))

    def write_and_score_predictions(self, encoded_set, batches, output_dir):
        return Scores({"predicted_accuracy": 0.5})


def score_label(label, f1, support):
    """Returns the scores of a label, whose rates are all `f1`."""
    return LabelScores(label, f1, f1, f1, support)


@pytest.fixture
def end_with(tmp_path):
    """(scores of labels, **flags) -> ends a command with this evaluation."""

    def end(by_label, **flags):
        class ScoredTask(ToyTask):
            def compute_scores(self, encoded_set, batches):
                return Scores(by_label=by_label)

        config = create_config(tmp_path / "run", do_eval=True, **flags)
        (tmp_path / "run").mkdir()
        bert_config = tiny_config(vocab_size=1600)
        task = ScoredTask(
            create_starting_point(config, bert_config, load_tokenizer()),
            scoring=Scoring(("accuracy",)),
        )
        fine_tuner = FineTuner(
            task,
            write_encoded_sets(task, tmp_path / "records"),
            create_trainer(task),
        )
        end_with_scores(fine_tuner, begin_time=0)

    return end


def test_a_label_that_is_never_found_is_named_with_other_flags(
    end_with, caplog
):
    by_label = [score_label("yes", 0.8, 9), score_label("no", 0.0, 3)]
    end_with(by_label, do_train=True, learning_rate=1e-5, num_train_epochs=2)
    assert "no example of no" in caplog.text
    assert "--learning_rate=2e-05 and --num_train_epochs=4." in caplog.text


@pytest.mark.parametrize(
    ("f1", "support"),
    [
        pytest.param(0.1, 3, id="found once"),
        pytest.param(0.0, 0, id="not in the dev set"),
    ],
)
def test_labels_that_were_found_or_not_scored_cause_no_warning(
    end_with, caplog, f1, support
):
    end_with([score_label("no", f1, support)], do_train=True)
    assert not logged_warnings(caplog)


def test_a_command_that_does_not_train_gives_no_advice(end_with, caplog):
    end_with([score_label("no", 0.0, 3)], do_train=False)
    assert not logged_warnings(caplog)


@pytest.fixture
def finish(tmp_path):
    """(*flags that the user set, **flags) -> ends a command in tmp_path."""

    def finish(*given, **flags):
        config = create_config(
            tmp_path / "run", do_train=False, do_eval=True, **flags
        )
        task = WholeModelTask(
            create_starting_point(
                config, SMALL, load_tokenizer(), set_by_user=given
            )
        )
        fine_tuner = FineTuner(
            task,
            {},
            create_trainer(task),
        )
        end_without_scores(fine_tuner)

    return finish


def test_scores_that_are_not_the_runs_are_in_no_file(finish, tmp_path):
    finish()
    assert not (tmp_path / "run").exists()


def test_weights_are_written_without_scores(finish, tmp_path):
    finish(export_weights=str(tmp_path / "weights"))
    assert (tmp_path / "weights/bert_model.ckpt.index").is_file()


@pytest.mark.slow
def test_an_export_that_the_user_asked_for_is_written(finish, tmp_path):
    folder = tmp_path / "export"
    finish("export_dir", export_dir=str(folder), export_format="litert")
    assert (folder / "model.json").is_file()


def test_an_export_by_default_is_not_written_again(finish, tmp_path):
    folder = tmp_path / "export"
    finish(export_dir=str(folder), export_format="litert")
    assert not folder.exists()


def test_the_scores_of_predictions_join_those_of_the_evaluation(tmp_path):
    config = create_config(tmp_path / "run", do_eval=True, do_predict=True)
    (tmp_path / "run").mkdir()
    starting_point = create_starting_point(
        config, tiny_config(vocab_size=1600), load_tokenizer()
    )
    task = PredictedDevSetTask(starting_point)
    fine_tuner = FineTuner(
        task,
        write_encoded_sets(task, tmp_path / "records"),
        create_trainer(task),
    )
    end_with_scores(fine_tuner, begin_time=0)
    (line,) = read_history(tmp_path / "run" / HISTORY_FILE)
    assert {"eval_loss", "predicted_accuracy"} <= line["metrics"].keys()
