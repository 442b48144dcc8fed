"""How often a step is evaluated, and where its scores are written."""

import types

import pytest

from tests.support.models import tiny_config
from tests.support.output_files import read_results
from tests.support.tasks import toy_task
from training.flows.evaluations import (
    evaluate_and_write_scores,
    evaluate_once_per_step,
    write_dev_scores,
)
from training.run_files.history_lines import HISTORY_FILE, read_history


def test_the_scores_of_a_step_are_computed_once():
    steps = []
    weights = types.SimpleNamespace(global_step=0)

    def evaluate():
        steps.append(weights.global_step)
        return {"accuracy": weights.global_step / 10}

    evaluate_once = evaluate_once_per_step(weights, evaluate)
    for step in (3, 5, 5, 3):
        weights.global_step = step
        scores = evaluate_once()
        assert scores == {"accuracy": step / 10}
        # A caller may add to its scores.
        scores["loss"] = 1.0
    assert steps == [3, 5]


@pytest.fixture
def trainer(tmp_path):
    """A Trainer of a run in FOLDER/run, which evaluates."""
    config = toy_task.create_config(tmp_path / "run", do_eval=True)
    start = toy_task.create_start(
        config, tiny_config(vocab_size=1600), toy_task.load_tokenizer()
    )
    (tmp_path / "run").mkdir()
    return toy_task.create_trainer(toy_task.ToyTask(start))


def evaluate():
    """Returns the scores of a step that was evaluated."""
    return {"accuracy": 0.25, "global_step": 0}


def test_the_last_evaluation_is_written(trainer, tmp_path):
    evaluate_and_write_scores(trainer, evaluate, 7)
    assert read_results(tmp_path / "run")["accuracy"] == 0.25


def test_the_last_evaluation_is_a_line_of_the_history(trainer, tmp_path):
    evaluate_and_write_scores(trainer, evaluate, 7)
    (line,) = read_history(tmp_path / "run" / HISTORY_FILE)
    assert (line["kind"], line["metrics"]) == ("eval", {"accuracy": 0.25})
    assert line["dev_set"] == 7


def test_the_last_evaluation_returns_its_scores(trainer):
    scores = evaluate_and_write_scores(trainer, evaluate, 7)
    assert scores == evaluate()


def test_scores_on_another_dev_set_do_not_replace_those_of_the_best_step(
    trainer, tmp_path
):
    history = trainer.run_folder.history
    history.add_evaluation(3, {"accuracy": 0.75}, dev_set_checksum=7)
    trainer.run_folder.best_step.set(3)
    trainer.run_weights.global_step = 3
    write_dev_scores(trainer, {"accuracy": 0.25}, 8)
    (line,) = read_history(tmp_path / "run" / HISTORY_FILE)
    assert line["metrics"] == {"accuracy": 0.75}
    assert read_results(tmp_path / "run")["accuracy"] == 0.25
