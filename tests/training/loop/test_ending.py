"""How a signal and the other workers end a training."""

import signal

import pytest
import tensorflow as tf

from training.loop import ending
from training.loop.ending import agree_on_end, stop_signals


def test_a_signal_counts_even_if_its_log_line_fails(monkeypatch):
    """Logging fails, for example, while another line waits for a full pipe."""

    def fail(_):
        raise RuntimeError("reentrant call")

    monkeypatch.setattr(ending.logging, "warning", fail)
    with (
        stop_signals() as stop,
        pytest.raises(RuntimeError, match="reentrant"),
    ):
        signal.raise_signal(signal.SIGTERM)
    assert stop.is_set()


@pytest.mark.parametrize("is_due", [False, True])
def test_a_single_process_stops_without_asking_others(is_due):
    strategy = tf.distribute.get_strategy()
    wants_end = [True, False]
    agreed = agree_on_end(strategy, wants_end, is_due=is_due)
    assert agreed == wants_end
