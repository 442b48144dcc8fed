"""When a training calls its callbacks, and with which logs."""

import pytest

from tests.support.two_weight_model import (
    create_batches,
    create_loop_trainer,
    fit_batches,
)
from training.loop.callbacks import Callback, Decision


class Recorder(Callback):
    """Records its calls, and asks to stop at a step.

    Args:
        stop_at: step after which training must end, None for no such step.
        reason: why a run must not train at all, None if it may.
    """

    def __init__(self, stop_at=None, reason=None):
        self.stop_at = stop_at
        self.reason = reason
        self.calls = []
        self.logs = []

    def on_train_begin(self):
        self.calls.append("begin")

    def describe_reason_to_end(self, step):
        self.calls.append(f"ask {step}")
        return self.reason

    def on_step(self, step, logs):
        self.calls.append(f"step {step}")
        self.logs.append(logs)
        return Decision.END if step == self.stop_at else Decision.GO_ON


def train_steps(folder, *callbacks, num_steps=3):
    """Trains for some steps, and returns the Trainer."""
    trainer = create_loop_trainer(folder)
    fit_batches(trainer, create_batches([]), num_steps, callbacks)
    return trainer


def test_a_callback_is_asked_first_then_called_at_each_step(tmp_path):
    recorder = Recorder()
    train_steps(tmp_path, recorder)
    assert recorder.calls == ["ask 0", "begin", "step 1", "step 2", "step 3"]


def test_a_callback_without_methods_changes_nothing(tmp_path):
    assert train_steps(tmp_path, Callback()).run_weights.global_step == 3


def test_a_callback_that_decides_to_end_ends_the_training(tmp_path):
    trainer = train_steps(tmp_path, Recorder(stop_at=2), num_steps=9)
    assert trainer.run_weights.global_step == 2


def test_all_callbacks_run_after_the_step_that_one_of_them_ends(tmp_path):
    second = Recorder()
    train_steps(tmp_path, Recorder(stop_at=2), second, num_steps=9)
    assert second.calls[-1] == "step 2"


def test_a_run_with_a_reason_to_stop_trains_no_step(tmp_path, caplog):
    recorder = Recorder(reason="the scores no longer rise")
    caplog.set_level("INFO", logger="absl")
    assert train_steps(tmp_path, recorder).run_weights.global_step == 0
    assert "the scores no longer rise" in caplog.text


def test_the_logs_of_a_step_are_its_loss_rate_and_norm(tmp_path):
    recorder = Recorder()
    train_steps(tmp_path, recorder, num_steps=1)
    (logs,) = recorder.logs
    # Each of two rows is its factor times a weight of one.
    assert {name: float(value) for name, value in logs.items()} == {
        "loss": pytest.approx(1.0),
        "part": pytest.approx(1.0),
        "learning_rate": pytest.approx(0.1),
        "gradient_norm": pytest.approx(1.0),
    }
