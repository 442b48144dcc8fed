"""Skipped steps are counted, and stop a run that cannot go on."""

import logging
import signal

import numpy as np
import pytest
import tensorflow as tf

from training.loop import stopping
from training.loop.train_step import Outcome


@pytest.fixture
def skipped(monkeypatch):
    """A counter that allows two skipped steps in a row."""
    monkeypatch.setattr(stopping, "MAX_SKIPPED_STEPS", 3)
    return stopping.SkippedStepCounter("run")


def test_skipped_steps_in_a_row_are_counted(skipped):
    skipped.count(
        4, np.array([Outcome.APPLIED, Outcome.NOT_FINITE, Outcome.NOT_FINITE])
    )
    assert skipped.num_in_a_row == 2


def test_a_finite_step_begins_a_new_count(skipped):
    skipped.count(2, np.array([Outcome.NOT_FINITE, Outcome.NOT_FINITE]))
    skipped.count(4, np.array([Outcome.APPLIED, Outcome.NOT_FINITE]))
    assert skipped.num_in_a_row == 1


def test_an_overflow_of_the_loss_scale_neither_counts_nor_begins_anew(skipped):
    skipped.count(
        3,
        np.array([Outcome.NOT_FINITE, Outcome.OVERFLOWED, Outcome.NOT_FINITE]),
    )
    assert skipped.num_in_a_row == 2


def test_the_log_names_each_skipped_step(skipped, caplog):
    with caplog.at_level(logging.WARNING, logger="absl"):
        skipped.count(
            9, np.array([Outcome.APPLIED, Outcome.NOT_FINITE, Outcome.APPLIED])
        )
    assert "Step 8 was skipped (1 in a row)" in caplog.text


def test_too_many_skipped_steps_end_the_run(skipped):
    skipped.count(2, np.array([Outcome.NOT_FINITE, Outcome.NOT_FINITE]))
    with pytest.raises(ValueError, match=r"of 3 steps in a row .* to step 3"):
        skipped.count(4, np.array([Outcome.NOT_FINITE, Outcome.APPLIED]))


@pytest.mark.parametrize("is_due", [False, True])
def test_a_process_alone_stops_at_once(is_due):
    strategy = tf.distribute.get_strategy()
    wants_stop = [True, False]
    agreed = stopping.agree_on_stop(strategy, wants_stop, is_due=is_due)
    assert agreed == wants_stop


def test_a_run_stopped_by_a_signal_asks_to_be_tried_again():
    with pytest.raises(SystemExit) as caught:
        stopping.exit_after_signal(7)
    assert caught.value.code == 75


def test_a_signal_counts_even_if_its_log_line_fails(monkeypatch):
    """Logging fails, for example, while another line waits for a full pipe."""

    def fail(_):
        raise RuntimeError("reentrant call")

    monkeypatch.setattr(stopping.logging, "warning", fail)
    with (
        stopping.stop_signals() as stop,
        pytest.raises(RuntimeError, match="reentrant"),
    ):
        signal.raise_signal(signal.SIGTERM)
    assert stop.is_set()
