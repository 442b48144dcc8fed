"""When the workers of a training agree to stop."""

import pytest
import tensorflow as tf

from training.loop.step_loop import agree_on_stop


@pytest.mark.parametrize("is_due", [False, True])
def test_a_single_process_stops_without_asking_others(is_due):
    strategy = tf.distribute.get_strategy()
    wants_stop = [True, False]
    agreed = agree_on_stop(strategy, wants_stop, is_due=is_due)
    assert agreed == wants_stop
