"""Fixtures of the tests of the server."""

import types

import pytest


@pytest.fixture
def clock(monkeypatch):
    """The clock of the server's stopwatches, whose `now` the test sets."""
    clock = types.SimpleNamespace(now=100.0)
    time = types.SimpleNamespace(monotonic=lambda: clock.now)
    monkeypatch.setattr("serving.http.stopwatch.time", time)
    return clock
