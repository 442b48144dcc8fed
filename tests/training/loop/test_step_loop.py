"""After which steps a training saves, and what ends it."""

import signal
import threading

import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.scores import Evaluation, Scores
from tests.support import tensorboard_events
from tests.support.two_weight_model import (
    OnStep,
    create_batch_dataset,
    create_batches,
    create_loop_trainer,
    fit_batches,
)
from training.loop.best_step_callback import BestStepCallback, BestStepRule
from training.loop.callbacks import Callback, Decision
from training.loop.ending import TrainingStopped
from training.loop.step_loop import StepLoop


class NamedCallback(Callback):
    """Lists when it is called, and ends the training after a step."""

    def __init__(self, name, calls, last_step=None):
        self._name = name
        self._calls = calls
        self._last_step = last_step

    def on_train_begin(self):
        self._calls.append(f"{self._name} begins")

    def describe_reason_to_end(self, step):
        return "it is over" if step == self._last_step else None

    def on_step(self, step, logs):
        self._calls.append(f"{self._name} after {step}")
        return Decision.END if step == self._last_step else Decision.NONE


class Loop:
    """A StepLoop of 4 steps, built without `Trainer.fit`."""

    def __init__(self, folder, callbacks=()):
        self.stop = threading.Event()
        self._trainer = create_loop_trainer(folder)
        self._loop = StepLoop(
            self._trainer.train_step,
            self._trainer.run_weights,
            self._trainer.run_folder,
            self._trainer.config,
            callbacks=callbacks,
            num_train_steps=4,
        )
        self.find_reasons_to_end = self._loop.find_reasons_to_end

    @property
    def step(self):
        return self._trainer.run_weights.global_step

    def run(self):
        """Runs the steps; returns the names of the reasons to end."""
        dataset = create_batch_dataset(create_batches([]))
        reasons = self._loop.run(dataset, self.stop, epochs=None)
        return [name for name, value in reasons._asdict().items() if value]


def test_callbacks_run_in_their_order_until_one_ends_the_steps(tmp_path):
    calls = []
    callbacks = [
        NamedCallback("first", calls, last_step=2),
        NamedCallback("second", calls),
    ]
    loop = Loop(tmp_path, callbacks)
    assert loop.run() == ["is_ended_by_callback"]
    assert calls == [
        "first begins",
        "second begins",
        "first after 1",
        "second after 1",
        "first after 2",
        "second after 2",
    ]


def test_a_callback_may_end_a_run_before_its_first_step(tmp_path):
    loop = Loop(tmp_path, [NamedCallback("it", [], last_step=0)])
    assert loop.find_reasons_to_end().is_ended_by_callback


def test_the_last_step_ends_the_steps(tmp_path):
    loop = Loop(tmp_path)
    assert loop.run() == ["is_complete"]
    assert loop.step == 4


def test_a_stop_ends_the_steps_once_the_step_is_saved(tmp_path):
    loop = Loop(tmp_path)
    loop.stop.set()
    assert loop.run() == ["is_stopped"]
    assert list_checkpoint_steps(tmp_path) == [1]


@pytest.fixture(params=[1, 4, 100], ids="{} steps a call".format)
def stopped_early(request, tmp_path):
    """(a Trainer that stopped early, the steps that it evaluated).

    It evaluates every 7 steps, saves every 6 and logs every 5. Its first score
    is the best, and it waits for two more.
    """
    evaluated = []

    def evaluate():
        step = trainer.run_weights.global_step
        evaluated.append(step)
        return Evaluation(step, Scores({"score": -len(evaluated)}))

    trainer = create_loop_trainer(
        tmp_path,
        save_checkpoints_steps=6,
        summary_steps=5,
        at_once=request.param,
    )
    best = BestStepCallback(
        trainer.run_weights,
        trainer.run_folder,
        evaluate=evaluate,
        rule=BestStepRule(7, "score", patience=2),
        num_train_steps=50,
    )
    fit_batches(trainer, create_batches([]), 50, [best])
    return trainer, evaluated


def test_an_evaluation_ends_a_call_of_several_steps(stopped_early):
    _, evaluated = stopped_early
    assert evaluated == [7, 14, 21]


@pytest.mark.usefixtures("stopped_early")
def test_a_checkpoint_ends_a_call_of_several_steps(tmp_path):
    assert list_checkpoint_steps(tmp_path) == [6, 12, 18, 21]


@pytest.mark.usefixtures("stopped_early")
def test_a_line_of_the_log_ends_a_call_of_several_steps(tmp_path):
    assert [*tensorboard_events.read_scalars(tmp_path)["loss"]] == [
        5,
        10,
        15,
        20,
    ]


def test_the_best_step_is_kept_among_calls_of_several_steps(
    stopped_early, tmp_path
):
    trainer, _ = stopped_early
    assert list_checkpoint_steps(tmp_path / "best") == [7]
    best_step = trainer.run_folder.best_step
    assert best_step.find_evaluation() == Evaluation(7, Scores({"score": -1}))


def test_a_signal_ends_the_training_once_the_step_is_saved(tmp_path):
    trainer = create_loop_trainer(tmp_path)
    signals = OnStep(
        lambda step, logs: step == 2 and signal.raise_signal(signal.SIGTERM)
    )
    with pytest.raises(TrainingStopped):
        fit_batches(trainer, create_batches([]), 5, [signals])
    assert list_checkpoint_steps(tmp_path) == [2]


def test_a_run_out_of_time_saves_its_step(tmp_path):
    trainer = create_loop_trainer(tmp_path, max_hours=1e-9)
    fit_batches(trainer, create_batches([]), 9)
    assert list_checkpoint_steps(tmp_path) == [1]
