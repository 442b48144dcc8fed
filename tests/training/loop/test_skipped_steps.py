"""Which steps count as skipped in a row, and when they end a run."""

import logging

import numpy as np
import pytest

from tests.support.log_lines import logged_warnings
from training.loop.skipped_steps import SkippedStepCounter
from training.loop.step_gradients import Outcome


@pytest.fixture
def skipped():
    """A counter of skipped steps, of which ten in a row are an error."""
    return SkippedStepCounter("run")


def test_skipped_steps_in_a_row_are_counted(skipped):
    skipped.count(
        4, np.array([Outcome.APPLIED, Outcome.NOT_FINITE, Outcome.NOT_FINITE])
    )
    assert skipped.num_in_a_row == 2


def test_a_finite_step_begins_a_new_count(skipped):
    skipped.count(2, np.array([Outcome.NOT_FINITE, Outcome.NOT_FINITE]))
    skipped.count(4, np.array([Outcome.APPLIED, Outcome.NOT_FINITE]))
    assert skipped.num_in_a_row == 1


def test_an_overflow_of_the_loss_scale_leaves_the_count_as_it_is(skipped):
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
    (warning,) = logged_warnings(caplog)
    assert "Step 8" in warning


def test_too_many_skipped_steps_end_the_run(skipped):
    skipped.count(9, np.array([Outcome.NOT_FINITE] * 9))
    with pytest.raises(ValueError, match=r"of 10 steps in a row .* to step 10"):
        skipped.count(11, np.array([Outcome.NOT_FINITE, Outcome.APPLIED]))
