"""What SIGTERM and Ctrl-C do in a `with` block, and after it."""

import signal

import pytest

from terminal import signals

NUMBERS = (signal.SIGTERM, signal.SIGINT)


@pytest.fixture(autouse=True)
def _same_handlers():
    """Checks that a block leaves the handlers as they were."""
    before = [signal.getsignal(number) for number in NUMBERS]
    yield
    assert [signal.getsignal(number) for number in NUMBERS] == before


@pytest.mark.parametrize("number", NUMBERS)
def test_the_first_signal_raises_and_what_cleans_up_is_not_disturbed(number):
    cleaned = []

    def work():
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            cleaned.append(True)

    with pytest.raises(signals.SignalInterrupt) as caught, signals.stoppable():
        work()
    assert cleaned
    assert str(caught.value) == f"stopped by {number.name}"
    assert caught.value.status == 128 + number


def test_a_signal_is_ignored_after_ignore_signals():
    with signals.stoppable() as ignore_signals:
        ignore_signals()
        signal.raise_signal(signal.SIGTERM)


def test_a_function_gets_the_signal_and_the_handler_before_the_block():
    calls = []
    former = signal.getsignal(signal.SIGTERM)
    with signals.handled_by(lambda *call: calls.append(call)):
        signal.raise_signal(signal.SIGTERM)
        with signals.handled_by(lambda *call: calls.append(call)):
            signal.raise_signal(signal.SIGTERM)
        outer = signal.getsignal(signal.SIGTERM)
    assert calls[0] == (signal.SIGTERM, former)
    assert calls[1] == (signal.SIGTERM, outer)


@pytest.fixture
def default_ctrl_c():
    """Sets Python's handler of Ctrl-C for a test."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def test_ctrl_c_is_remembered_and_still_raises(default_ctrl_c):
    ctrl_c = signals.CtrlC()
    ctrl_c.watch()
    assert not ctrl_c.was_pressed
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert ctrl_c.was_pressed


def test_a_process_that_ignores_ctrl_c_still_does(default_ctrl_c):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctrl_c = signals.CtrlC()
    ctrl_c.watch()
    signal.raise_signal(signal.SIGINT)
    assert not ctrl_c.was_pressed


def test_a_signal_may_say_what_it_stopped():
    stopped = signals.SignalInterrupt(signal.SIGTERM).with_text("at line 7")
    assert str(stopped) == "stopped by SIGTERM at line 7"
    assert stopped.status == 143
