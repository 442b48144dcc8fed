"""For how long connections have been in a state."""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.stopwatch import Stopwatch


def test_time_is_counted_from_the_last_change_of_the_state(clock):
    stopwatch = Stopwatch()
    assert stopwatch.measure({"a": "idle", "b": "idle"}) == {"a": 0, "b": 0}
    clock.now += 2
    assert stopwatch.measure({"a": "idle", "b": "busy"}) == {"a": 2, "b": 0}
    clock.now += 3
    assert stopwatch.measure({"a": "idle", "b": "busy"}) == {"a": 5, "b": 3}


def test_a_connection_that_comes_back_starts_at_zero(clock):
    stopwatch = Stopwatch()
    stopwatch.measure({"a": "idle"})
    clock.now += 2
    assert stopwatch.measure({}) == {}
    assert stopwatch.measure({"a": "idle"}) == {"a": 0}
