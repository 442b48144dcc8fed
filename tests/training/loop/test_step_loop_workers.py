"""When the workers of a training agree to stop."""

import pytest
import tensorflow as tf

from training.loop.step_loop import agree_on_end


@pytest.mark.parametrize("is_due", [False, True])
def test_a_single_process_stops_without_asking_others(is_due):
    strategy = tf.distribute.get_strategy()
    wants_end = [True, False]
    agreed = agree_on_end(strategy, wants_end, is_due=is_due)
    assert agreed == wants_end
