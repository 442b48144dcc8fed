"""What pretraining says at its end."""

import numpy as np
import pytest

from training import pretraining_end


def test_a_guess_is_the_most_frequent_masked_word():
    counts = pretraining_end.MaskedCounts()
    assert counts.guess == 0
    for ids, weights in (
        ([[5, 5], [7, 0]], [[1, 1], [1, 0]]),
        (
            [[9, 5], [0, 0]],
            [[1, 1], [0, 0]],
        ),
    ):
        counts.add(
            {
                "masked_lm_ids": np.array(ids),
                "masked_lm_weights": np.array(weights, np.float32),
            }
        )
    # 5, 5, 7, 9 and 5. The others are padding.
    assert counts.guess == pytest.approx(3 / 5)


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
def test_accuracy_that_has_not_moved_is_named(caplog, accuracy, step, is_named):
    results = {"masked_lm_accuracy": accuracy, "global_step": step}
    pretraining_end.warn_of_no_progress(results, 0.07)
    assert ("not learned from the context" in caplog.text) == is_named
