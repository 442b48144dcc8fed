"""Runs the application with uvicorn, until SIGTERM or Ctrl-C."""

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Iterator

import uvicorn
from absl import logging
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.server.app import Server

# Open connections; a client beyond these gets status 503.
MAX_CONNECTIONS = 1000
# Bytes of the head of a request: its path and its headers.
MAX_HEAD_BYTES = 1 << 16
# Connections that wait to be taken.
_BACKLOG = 1024
# Seconds after a stop signal in which an open connection may still send a
# request; its answer says that it is the last one.
_LAST_S = 5


def serve(server: Server, listener: socket.socket) -> None:
    """Answers requests until the process receives a stop signal.

    Requests accepted by then are still answered.

    Args:
        server: the application.
        listener: what `listen` returned.

    Raises:
        OSError: another process has begun to listen there since.
    """
    with _named(*listener.getsockname()[:2]):
        # Until here two processes may have the same address.
        listener.listen(_BACKLOG)
    timeout = server.limits.timeout_s
    config = uvicorn.Config(
        _close_if_last(server),
        # Not httptools, which does not limit headers.
        http="h11",
        ws="none",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        limit_concurrency=MAX_CONNECTIONS,
        backlog=_BACKLOG,
        timeout_keep_alive=int(max(5, timeout)),
        # Time to read a request, to answer it, and to send the answer.
        timeout_graceful_shutdown=int(3 * timeout + 1),
        log_config=None,
        access_log=False,
        server_header=False,
    )
    running = _Uvicorn(config, server)
    # Uvicorn handles signals while it serves. One that arrives just before also
    # stops it, and those that it raises again at its end do nothing.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, running.handle_exit)
    asyncio.run(running.serve([listener]))


def listen(host: str, port: int) -> socket.socket:
    """Returns a bound socket, which accepts no connections until `serve`.

    Args:
        host: address to listen on.
        port: 0 takes a free one.

    Raises:
        OSError: the port is in use, or there is no such address.
    """
    with _named(host, port):
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # Named, as asyncio turns Nagle's algorithm off only then: the body of
        # an answer would wait 40 ms for the client to confirm its head.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        with contextlib.ExitStack() as stack:
            stack.callback(listener.close)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            # It stays open on success.
            stack.pop_all()
    return listener


@contextlib.contextmanager
def _named(host: str, port: int) -> Iterator[None]:
    """Makes system errors in the block name the flags."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"--host={host} --port={port} cannot be listened on: "
            f"{error.strerror}; choose another one (port 0 is any free one)"
        ) from None


def _close_if_last(server: Server) -> ASGIApp:
    """Returns the application, whose last answer in a connection says so."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope.get("headers", ())}
        # Another server may read the two in another way, and what follows as
        # a request of its own.
        is_odd = {b"content-length", b"transfer-encoding"} <= names

        async def send_last(message: Message) -> None:
            if message["type"] == "http.response.start" and (
                is_odd or server.is_ending
            ):
                headers = dict(message["headers"]) | {b"connection": b"close"}
                message["headers"] = [*headers.items()]
            await send(message)

        await server.app(scope, receive, send_last)

    return app


class _Uvicorn(uvicorn.Server):
    """A uvicorn server that closes idle connections, and loses no request."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server
        # {connection: ((its last request, whether it is answered), since when)}
        self._since: dict[object, tuple[tuple[object, bool], float]] = {}

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Also logs the server's address."""
        await super().startup(sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            logging.info("ready: http://%s:%d", shown, port)

    async def on_tick(self, counter: int) -> bool:
        """Is called ten times a second."""
        if counter % 10 == 0:
            self._close_stalled()
        return await super().on_tick(counter)

    async def shutdown(
        self, sockets: list[socket.socket] | None = None
    ) -> None:
        """Ends each open connection with an answer, if it asks in time."""
        self._server.is_ending = True
        # Those that wait are taken before no other can come.
        await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        end = time.monotonic() + _LAST_S
        while (
            self.server_state.connections
            and time.monotonic() < end
            and not self.force_exit
        ):
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)

    def _close_stalled(self) -> None:
        """Closes connections with one request, or none, for too long."""
        now = time.monotonic()
        since = {}
        for connection in list(self.server_state.connections):
            cycle = getattr(connection, "cycle", None)
            is_idle = cycle is None or cycle.response_complete
            # Idle time counts from the last answer.
            state = cycle, is_idle
            before, began = self._since.get(connection, (state, now))
            if before != state:
                began = now
            since[connection] = state, began
            # Receiving a request, answering it and sending the answer may each
            # take that long.
            most = self._server.limits.timeout_s * (1 if is_idle else 3)
            if now - began > most and connection.transport is not None:
                connection.transport.abort()
        self._since = since
