"""Serves an application with limits on the time of each connection."""

import asyncio
import math
import socket
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import uvicorn

from serving.http.app import ServerApp
from serving.http.uvicorn_server import Connection, UvicornServer

# Seconds for which a stopping server waits for a request on an idle connection.
_IDLE_S = 0.5
# Seconds for which a stopping server waits for the next bytes of a body.
_BODY_S = 1.0


class TimedServer(UvicornServer):
    """Serves with limits on the time of each connection.

    It aborts connections of clients that are too slow, and stops only when all
    requests that are on their way get replies.

    Args:
        app: application that gets the requests of the connections.
    """

    def __init__(self, app: ServerApp) -> None:
        super().__init__(_create_uvicorn_config(app))
        self._app = app
        self._stopwatch = Stopwatch()

    def abort_slow_connections(self) -> None:
        """Aborts connections whose client is too slow.

        Such a client sends no complete request, or does not read its reply.
        """
        # A reply changes the exchange, so idle time is counted from the reply.
        exchanges = {
            connection: _Exchange(connection.last_request, connection.is_idle)
            for connection in self.connections
        }
        timeout = self._app.state.limits.timeout_s
        for connection, seconds in self._stopwatch.measure(exchanges).items():
            # Receiving a request, computing its reply and sending the reply may
            # each take timeout_s.
            num_steps = 1 if exchanges[connection].is_idle else 3
            if seconds > num_steps * timeout:
                connection.abort()

    async def drain(self, listeners: Sequence[socket.socket]) -> None:
        """Waits until no connection is open, and closes silent connections."""
        self._app.state.is_stopping = True
        await self.stop_listening(listeners)
        stopwatch = Stopwatch()
        while self.connections and not self.must_stop_now:
            self.abort_slow_connections()
            self._close_silent_connections(stopwatch)
            await asyncio.sleep(_IDLE_S / 10)

    def _close_silent_connections(self, stopwatch: "Stopwatch") -> None:
        """Closes connections that receive no more bytes, unless a reply is due.

        `stopwatch` measures for how long a connection has received no bytes.
        """
        receptions = {
            connection: _Reception(
                connection.last_request,
                connection.received_at,
                _patience_of(connection),
            )
            for connection in self.connections
        }
        for connection, seconds in stopwatch.measure(receptions).items():
            if seconds > receptions[connection].patience_s:
                connection.close()


class Stopwatch:
    """Measures for how long connections have not changed their state.

    A state is any value, which is compared by ==.
    """

    def __init__(self) -> None:
        # {connection: (its state, time at which this state was first seen)}
        self._entries: dict[Connection, tuple[object, float]] = {}

    def measure(
        self, states: Mapping[Connection, object]
    ) -> dict[Connection, float]:
        """Returns {connection: seconds for which it has been in its state}.

        Connections that `states` lacks are forgotten.
        """
        now = time.monotonic()
        entries: dict[Connection, tuple[object, float]] = {}
        for connection, state in states.items():
            last_state, since = self._entries.get(connection, (state, now))
            entries[connection] = state, since if state == last_state else now
        self._entries = entries
        return {
            connection: now - since
            for connection, (_, since) in entries.items()
        }


class _Exchange(NamedTuple):
    """The request of a connection, and whether it got a reply."""

    request: object
    is_idle: bool


class _Reception(NamedTuple):
    """The progress of a connection that receives a request.

    Attributes:
        request: the last request.
        received_at: time at which the last bytes came.
        patience_s: seconds for which a stopping server waits for more bytes.
    """

    request: object
    received_at: float
    patience_s: float


def _patience_of(connection: Connection) -> float:
    """Returns for how many seconds a stopping server waits for more bytes."""
    if connection.is_idle:
        return _IDLE_S
    return math.inf if connection.has_complete_request else _BODY_S


def _create_uvicorn_config(app: ServerApp) -> uvicorn.Config:
    """Returns the settings of Uvicorn, whose time limits suit the server's."""
    timeout = app.state.limits.timeout_s
    return uvicorn.Config(
        app,
        # Uvicorn's other parser, httptools, does not limit the size of headers.
        http=Connection,
        ws="none",
        lifespan="off",
        # Maximum bytes of a request's path and headers.
        h11_max_incomplete_event_size=1 << 16,
        # Requests on more open connections get status 503.
        limit_concurrency=1000,
        timeout_keep_alive=int(max(5, timeout)),
        # Time to receive a request, to compute its reply and to send the reply.
        timeout_graceful_shutdown=int(3 * timeout + 1),
        log_config=None,
        access_log=False,
        server_header=False,
    )
