"""Extends uvicorn by what the server needs beyond its documentation.

Only this module uses names that uvicorn does not document, and that an upgrade
may remove or change. They belong to uvicorn's protocol for HTTP/1.1, and to the
state of its server. timed_server.py decides how long connections may take.
"""

import abc
import asyncio
import contextlib
import socket
import time
from collections.abc import Collection, Iterator, Sequence
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol


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


class UvicornServer(uvicorn.Server, abc.ABC):
    """A server whose subclass watches connections, and may delay the end.

    Args:
        config: settings of uvicorn, whose `http` is `Connection`.
    """

    @abc.abstractmethod
    def abort_slow_connections(self) -> None:
        """Aborts connections whose client is too slow.

        This method is called ten times a second, until the server ends.
        """

    @abc.abstractmethod
    async def drain(self, listeners: Sequence[socket.socket]) -> None:
        """Stops listening, and replies to the requests that are on their way.

        Afterwards uvicorn closes all connections that wait for no reply, even
        if the next request may already be on its way.
        """

    @property
    def connections(self) -> Collection[Connection]:
        """The open connections."""
        connections: Collection[Connection] = self.server_state.connections
        return connections

    @property
    def must_stop_now(self) -> bool:
        """Whether a second Ctrl-C asked to wait for nothing."""
        must_stop: bool = self.force_exit
        return must_stop

    def stop(self) -> None:
        """Makes the server stop, from any thread."""
        self.should_exit = True

    def stop_on_signal(
        self, signal_number: int, frame: FrameType | None
    ) -> None:
        """Makes the server stop, as a handler of a signal."""
        self.handle_exit(signal_number, frame)

    async def on_tick(self, counter: int) -> bool:
        """Aborts slow connections. Uvicorn ticks ten times a second."""
        self.abort_slow_connections()
        stops: bool = await super().on_tick(counter)
        return stops

    async def shutdown(
        self, sockets: list[socket.socket] | None = None
    ) -> None:
        """Calls `drain`, and ends."""
        await self.drain(sockets or ())
        await super().shutdown(sockets)

    async def stop_listening(self, listeners: Sequence[socket.socket]) -> None:
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


def _accept_all(listener: socket.socket) -> Iterator[socket.socket]:
    """Yields the connections that the system has accepted for the server.

    The system would reset these connections when the listener is closed.
    """
    with contextlib.suppress(BlockingIOError):
        while True:
            yield listener.accept()[0]
