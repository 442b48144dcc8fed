"""How a signal ends a training."""

import signal

import pytest

from training.loop import stop_signals as stop_signals_module
from training.loop.stop_signals import stop_signals


def test_a_signal_counts_even_if_its_log_line_fails(monkeypatch):
    """Logging fails, for example, while another line waits for a full pipe."""

    def fail(_):
        raise RuntimeError("reentrant call")

    monkeypatch.setattr(stop_signals_module.logging, "warning", fail)
    with (
        stop_signals() as stop,
        pytest.raises(RuntimeError, match="reentrant"),
    ):
        signal.raise_signal(signal.SIGTERM)
    assert stop.is_set()
