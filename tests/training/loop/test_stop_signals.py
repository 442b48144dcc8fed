"""How a signal ends a training."""

import signal

import pytest

from training.loop import stop_signals as stop_signals_module
from training.loop.stop_signals import exit_after_signal, stop_signals


def test_a_run_stopped_by_a_signal_asks_to_be_tried_again():
    with pytest.raises(SystemExit) as caught:
        exit_after_signal(7)
    assert caught.value.code == 75


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
