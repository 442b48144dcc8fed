"""What pretraining says at its end."""

import pytest

from training.flows import pretraining_ending


@pytest.mark.parametrize(
    ("accuracy", "step", "is_named"),
    [
        (0.0, 300, True),
        (0.07, 300, True),
        (0.075, 5000, True),
        (0.09, 300, False),
        (0.0, 99, False),
        (0.6, 5000, False),
    ],
)
def test_an_unmoved_accuracy_is_named(caplog, accuracy, step, is_named):
    results = {"masked_lm_accuracy": accuracy, "global_step": step}
    pretraining_ending.warn_of_no_progress(results, 0.07)
    assert ("not learned from the context" in caplog.text) == is_named
