"""What a run adds to its history, and its hours."""

import types

import pytest

from model_folders.scores import Evaluation, Scores
from tests.support import tensorboard_events
from tests.support.two_weight_model import create_loop_config
from training.run_files import history


@pytest.fixture
def seconds(monkeypatch):
    """A clock that the tests move."""
    clock = types.SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(history, "time", clock)
    return clock


def history_of(folder, **flags):
    """Returns the History of a run in a folder."""
    config = create_loop_config(folder, train_batch_size=8, **flags)
    return history.History.read(config)


def test_time_resumes_where_a_checkpoint_was_saved(seconds, tmp_path):
    first = history_of(tmp_path)
    with first.count_hours():
        seconds.now += 900
        first.add_checkpoint(1)
        seconds.now += 900
        assert first.hours == 0.5
    # What passes between two trainings does not count.
    seconds.now += 5000
    assert first.hours == 0.5
    again = history_of(tmp_path)
    again.resume(1)
    again.remove_lines_after(1)
    with again.count_hours():
        seconds.now += 450
        assert again.hours == 0.375


def test_a_line_of_training_states_its_hours_and_examples(seconds, tmp_path):
    run_history = history_of(tmp_path)
    with run_history.count_hours():
        seconds.now += 36
        run_history.add_training(1, {"loss": float("nan")}, 0.1)
    assert history.read_history(tmp_path / history.HISTORY_FILE) == [
        {
            "kind": "train",
            "step": 1,
            "hours": 0.01,
            "examples": 8,
            "learning_rate": 0.1,
            # JSON knows no NaN.
            "metrics": {"loss": None},
        }
    ]


def test_a_resume_drops_half_a_line_and_the_lines_of_later_steps(
    seconds, tmp_path
):
    first = history_of(tmp_path)
    with first.count_hours():
        for step in (1, 2, 3):
            first.add_training(step, {})
        first.add_checkpoint(3)
        for step in (4, 5):
            first.add_training(step, {})
    path = tmp_path / history.HISTORY_FILE
    path.write_text(path.read_text()[:-20])
    again = history_of(tmp_path)
    again.resume(3)
    again.remove_lines_after(3)
    with again.count_hours():
        steps = [line["step"] for line in history.read_history(path)]
    assert steps == [1, 2, 3, 3]


def test_tensorboard_shows_the_finite_scores_of_evaluations(tmp_path):
    run_history = history_of(tmp_path, summary_steps=1)
    first = Scores({"loss": 0.5, "f1": float("nan")})
    run_history.add_evaluation(Evaluation(3, first))
    second = Scores({"loss": 0.25, "f1": 0.75})
    run_history.add_evaluation(Evaluation(6, second))
    assert tensorboard_events.read_scalars(tmp_path) == {
        "eval/loss": {3: 0.5, 6: 0.25},
        "eval/f1": {6: 0.75},
    }
