"""Which connections a server ends, by the time that they take.

test_server_process_clients.py has such clients of whole servers.
"""

import asyncio
import types

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.app import ServerApp
from serving.http.serve_config import LimitOptions
from serving.http.timed_server import Stopwatch, TimedServer
from tests.support.serving.echo_models import EchoEngine, EchoExport
from tests.support.waiting import TIMEOUT


@pytest.fixture
def clock(monkeypatch):
    """The clock of the server's stopwatches, whose `now` the test sets."""
    clock = types.SimpleNamespace(now=100.0)
    time = types.SimpleNamespace(monotonic=lambda: clock.now)
    monkeypatch.setattr("serving.http.timed_server.time", time)
    return clock


class FakeConnection:
    """A connection in a state that the test sets, which notes its end."""

    received_at = 0.0

    def __init__(self, *, is_idle, has_complete_request=False):
        self.last_request = object()
        self.is_idle = is_idle
        self.has_complete_request = has_complete_request
        self.end = None

    def abort(self):
        self.end = "aborted"

    def close(self):
        self.end = "closed"


@pytest.fixture
def app():
    """The application of a server with the model "m"."""
    export = EchoExport(engine=EchoEngine())
    return ServerApp.create({"m": export}, limits=LimitOptions(timeout_s=10))


@pytest.fixture
def server(app):
    """A server whose clients have 10 seconds for each step."""
    return TimedServer(app)


def test_a_client_that_sends_no_request_is_disconnected(server, clock):
    idle = FakeConnection(is_idle=True)
    asked = FakeConnection(is_idle=False)
    server.server_state.connections = {idle, asked}
    server.abort_slow_connections()
    clock.now += 11
    server.abort_slow_connections()
    assert (idle.end, asked.end) == ("aborted", None)


def test_a_request_may_take_three_times_the_limit(server, clock):
    """It is received, computed, and its reply is sent."""
    asked = FakeConnection(is_idle=False)
    server.server_state.connections = {asked}
    server.abort_slow_connections()
    clock.now += 30
    server.abort_slow_connections()
    assert asked.end is None
    clock.now += 1
    server.abort_slow_connections()
    assert asked.end == "aborted"


def drain_until_closed(server, connection, pass_time):
    """Lets a server stop, until it closes one of its connections.

    `pass_time` is a function that moves the clock.
    """

    async def drain():
        draining = asyncio.create_task(server.drain([]))
        async with asyncio.timeout(TIMEOUT):
            while not connection.end:
                pass_time()
                await asyncio.sleep(0.05)
        server.server_state.connections.clear()
        await draining

    server.servers = []
    asyncio.run(drain())


def test_a_stopping_server_closes_silent_connections_only(server, app, clock):
    silent = FakeConnection(is_idle=True)
    answered = FakeConnection(is_idle=False, has_complete_request=True)
    server.server_state.connections = {silent, answered}

    def pass_time():
        clock.now += 1

    drain_until_closed(server, silent, pass_time)
    assert (silent.end, answered.end) == ("closed", None)
    assert app.state.is_stopping


def test_a_stopping_server_waits_for_a_body_only_while_it_arrives(
    server, clock
):
    arriving = FakeConnection(is_idle=False)
    stuck = FakeConnection(is_idle=False)
    server.server_state.connections = {arriving, stuck}

    def pass_time():
        # Bytes come in less than the second for which the server waits.
        clock.now += 0.75
        arriving.received_at = clock.now

    drain_until_closed(server, stuck, pass_time)
    assert (arriving.end, stuck.end) == (None, "closed")


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
