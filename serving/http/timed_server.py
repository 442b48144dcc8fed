"""Uvicorn's server, with limits on the time of each connection.

When the server stops, requests that are on their way still get replies. For
this the module uses names that uvicorn does not document, and that an upgrade
may remove or change. They belong to uvicorn's protocol for HTTP/1.1, and to the
state of its server. No other module uses them.
"""

import asyncio
import contextlib
import math
import socket
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from serving.http.app import ServerApp

# Seconds for which a stopping server waits for a request on an idle connection.
_IDLE_S = 0.5
# Seconds for which a stopping server waits for the next bytes of a body.
_BODY_S = 1.0


class TimedServer(uvicorn.Server):
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

    @property
    def connections(self) -> Collection["Connection"]:
        """The open connections."""
        connections: Collection[Connection] = self.server_state.connections
        return connections

    async def on_tick(self, counter: int) -> bool:
        """Aborts slow connections. Uvicorn ticks ten times a second."""
        self.abort_slow_connections()
        stops: bool = await super().on_tick(counter)
        return stops

    def abort_slow_connections(self) -> None:
        """Aborts connections whose client is too slow.

        Such a client sends no complete request, or does not read its reply.
        """
        # A reply changes the state, so idle time is counted from the reply.
        states = {
            connection: (connection.last_request, connection.is_idle)
            for connection in self.connections
        }
        timeout = self._app.state.limits.timeout_s
        for connection, seconds in self._stopwatch.measure(states).items():
            # Receiving a request, computing its reply and sending the reply may
            # each take timeout_s.
            max_seconds = timeout if connection.is_idle else 3 * timeout
            if seconds > max_seconds:
                connection.abort()

    def stop(self) -> None:
        """Makes the server stop, from any thread."""
        self.should_exit = True

    def stop_on_signal(
        self, signal_number: int, frame: FrameType | None
    ) -> None:
        """Makes the server stop, as a handler of a signal."""
        self.handle_exit(signal_number, frame)

    async def shutdown(
        self, sockets: list[socket.socket] | None = None
    ) -> None:
        """Stops the server, after its replies.

        Uvicorn alone would close all connections that wait for no reply, even
        if the next request may already be on its way.
        """
        await self.drain(sockets or ())
        await super().shutdown(sockets)

    async def drain(self, listeners: Sequence[socket.socket]) -> None:
        """Stops listening, and waits until no connection is open.

        Closes silent connections. A second Ctrl-C ends the wait.
        """
        self._app.state.is_stopping = True
        await self._stop_listening(listeners)
        stopwatch = Stopwatch()
        while self.connections and not self.force_exit:
            self.abort_slow_connections()
            self._close_silent_connections(stopwatch)
            await asyncio.sleep(_IDLE_S / 10)

    async def _stop_listening(self, listeners: Sequence[socket.socket]) -> None:
        """Closes the listeners, and serves connections accepted so far."""
        accepted = [
            connection
            for listener in listeners
            for connection in _accept_all(listener)
        ]
        for server in self.servers:
            server.close()
        loop = asyncio.get_running_loop()
        for connection in accepted:
            await loop.connect_accepted_socket(
                self._create_protocol, connection
            )

    def _create_protocol(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self.config.http_protocol_class(
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        return protocol

    def _close_silent_connections(self, stopwatch: "Stopwatch") -> None:
        """Closes connections that receive no more bytes and wait for no reply.

        `stopwatch` measures for how long a connection has received no bytes.
        """
        states = {
            connection: (
                connection.last_request,
                connection.received_at,
                _patience_of(connection),
            )
            for connection in self.connections
        }
        for connection, seconds in stopwatch.measure(states).items():
            if seconds > _patience_of(connection):
                connection.close()


def _accept_all(listener: socket.socket) -> Iterator[socket.socket]:
    """Yields the connections that the system has accepted for the server.

    The system would reset these connections when the listener is closed.
    """
    with contextlib.suppress(BlockingIOError):
        while True:
            yield listener.accept()[0]


def _patience_of(connection: "Connection") -> float:
    """Returns for how many seconds a stopping server waits for more bytes."""
    if connection.is_idle:
        return _IDLE_S
    return math.inf if connection.has_complete_request else _BODY_S


class Stopwatch:
    """Measures for how long connections have not changed their state.

    A state is any value, which is compared by ==.
    """

    def __init__(self) -> None:
        # {connection: (its state, time at which this state was first seen)}
        self._entries: dict[Connection, tuple[object, float]] = {}

    def measure(
        self, states: Mapping["Connection", object]
    ) -> dict["Connection", float]:
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


class Connection(H11Protocol):
    """A connection that knows when its last bytes came.

    Attributes:
        received_at: time at which the last bytes came, 0 before the first.
    """

    received_at = 0.0

    def data_received(self, data: bytes) -> None:
        """Receives bytes, for asyncio."""
        self.received_at = time.monotonic()
        super().data_received(data)

    @property
    def last_request(self) -> object:
        """The last request, a new object for each request, None at first."""
        return self.cycle

    @property
    def is_idle(self) -> bool:
        """Whether no request on the connection waits for its reply."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def has_complete_request(self) -> bool:
        """Whether the body of the last request was received to its end."""
        return self.cycle is not None and not self.cycle.more_body

    def abort(self) -> None:
        """Closes the connection without sending the rest of a reply."""
        if self.transport is not None:
            self.transport.abort()

    def close(self) -> None:
        """Closes the connection, once all bytes of the reply are sent."""
        self.transport.close()


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
