"""Runs the server's application with uvicorn, until SIGTERM or Ctrl-C."""

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Iterator

import uvicorn
from absl import logging

from serving.server.app import Server

# Number of seconds after a stop signal during which an open connection may
# still send a request. The reply then contains `Connection: close`.
_LAST_S = 5


def serve(server: Server, listener: socket.socket) -> None:
    """Answers requests until the process receives a stop signal.

    Requests that were accepted before the signal are still answered.

    Args:
        server: the application.
        listener: socket that `listen` returned.

    Raises:
        OSError: another process has started to listen on the same address.
    """
    host, port = listener.getsockname()[:2]
    with _named(host, port):
        # Two processes can bind the same address, but only one can listen. So
        # this call may fail, although `bind` succeeded.
        listener.listen()
    timeout = server.limits.timeout_s
    config = uvicorn.Config(
        server,
        # Uvicorn's other parser, httptools, does not limit the size of headers.
        http="h11",
        ws="none",
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
    running = _Uvicorn(config, server)
    # Uvicorn installs its own signal handlers only while it serves. The
    # handlers below stop Uvicorn if a signal arrives during its start. When
    # Uvicorn ends, it raises the signals again. Then the handlers below run,
    # but without an effect, because Uvicorn has stopped.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, running.handle_exit)
    shown = f"[{host}]" if ":" in host else host
    logging.info("ready: http://%s:%d", shown, port)
    asyncio.run(running.serve([listener]))


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that is bound to an address. `serve` listens on it.

    Args:
        host: address to listen on.
        port: number of the port, or 0 for any free port.

    Raises:
        OSError: the port is in use, or the address does not exist.
    """
    with _named(host, port):
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # Pass IPPROTO_TCP, because asyncio disables Nagle's algorithm only for
        # sockets that were created with it. With Nagle's algorithm, the body of
        # a reply waits 40 ms for the client's ACK.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except OSError:
            listener.close()
            raise
    return listener


@contextlib.contextmanager
def _named(host: str, port: int) -> Iterator[None]:
    """Adds --host and --port to an OSError that the `with` block raises."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"cannot listen on --host={host} --port={port}: "
            f"{error.strerror}; choose another --port (0 picks a free one)"
        ) from None


class _Uvicorn(uvicorn.Server):
    """A uvicorn server that closes stalled connections.

    When it stops, it still answers requests on open connections.
    """

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server
        # {(connection, its last request, whether the request was answered):
        # time at which `on_tick` first saw this key}
        self._since: dict[tuple[object, object, bool], float] = {}

    async def on_tick(self, counter: int) -> bool:
        """Closes connections that have been idle or busy for too long.

        Uvicorn calls this ten times a second.
        """
        now = time.monotonic()
        since = {}
        for connection in list(self.server_state.connections):
            cycle = getattr(connection, "cycle", None)
            is_idle = cycle is None or cycle.response_complete
            # A reply changes this key, so idle time is counted from the reply.
            key = connection, cycle, is_idle
            since[key] = self._since.get(key, now)
            # Receiving a request, computing its reply and sending the reply may
            # each take timeout_s.
            most = self._server.limits.timeout_s * (1 if is_idle else 3)
            if now - since[key] > most and connection.transport is not None:
                connection.transport.abort()
        self._since = since
        return await super().on_tick(counter)

    async def shutdown(
        self, sockets: list[socket.socket] | None = None
    ) -> None:
        """Stops the server.

        Open connections may still send requests for _LAST_S seconds.
        """
        self._server.is_ending = True
        # Let asyncio accept the waiting connections before the listening
        # sockets are closed.
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
