"""Which lines SummaryCallback adds to the history, and what they contain."""

import types

import pytest

from tests.support.two_weight_model import create_loop_config
from training.loop import summary_callback
from training.loop.summary_callback import SummaryCallback
from training.run_files.history import HISTORY_FILE, History, read_history

LOGS = {"loss": 0.5, "learning_rate": 0.1}


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves."""
    clock = types.SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(summary_callback, "time", clock)
    return clock


@pytest.fixture
def summarize(tmp_path, clock):
    """A function (number of steps, **flags) -> lines, at a second a step."""

    def summarize_steps(num_train_steps, **flags):
        config = create_loop_config(tmp_path, train_batch_size=4, **flags)
        history = History.read(config)
        callback = SummaryCallback(history, config, num_train_steps)
        for step in range(1, num_train_steps + 1):
            clock.now += 1.0
            callback.on_step(step, LOGS)
        return read_history(tmp_path / HISTORY_FILE)

    return summarize_steps


def test_each_interval_of_the_flag_has_a_line(summarize):
    lines = summarize(100, summary_steps=5)
    assert [line["step"] for line in lines] == [*range(5, 101, 5)]


def test_a_short_training_has_ten_lines(summarize):
    lines = summarize(30, summary_steps=100)
    assert [line["step"] for line in lines] == [*range(3, 31, 3)]


def test_a_training_of_few_steps_has_a_line_for_each(summarize):
    lines = summarize(2, summary_steps=100)
    assert [line["step"] for line in lines] == [1, 2]


def test_a_line_contains_the_logs_of_its_step(summarize):
    (line,) = summarize(1, summary_steps=1)
    assert line["kind"] == "train"
    assert line["metrics"]["loss"] == 0.5
    assert line["learning_rate"] == 0.1


def test_the_speed_is_of_the_steps_since_the_last_line(summarize):
    lines = summarize(20, summary_steps=2)
    # Four examples a step, and a step a second.
    assert lines[-1]["metrics"]["examples_per_second"] == pytest.approx(4.0)


def test_the_first_step_has_no_speed(summarize):
    line, _ = summarize(2, summary_steps=1)
    assert line["step"] == 1
    assert "examples_per_second" not in line["metrics"]


def test_a_line_states_the_memory_of_the_process(summarize):
    (line,) = summarize(1, summary_steps=1)
    # Bytes that are taken for kilobytes would be more.
    assert 0 < line["metrics"]["peak_memory_gib"] < 1000
