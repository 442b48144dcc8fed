"""Runs the server in this process, from loading the models to SIGTERM."""

import asyncio
import json
import math
import os
import shlex
import signal
import socket
import threading
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import uvicorn
from absl import logging

from serving.http.app import ServerApp
from serving.http.uvicorn_server import Connection, UvicornServer

# Seconds for which a stopping server waits for a request on an idle connection.
_IDLE_S = 0.5
# Seconds for which a stopping server waits for the next bytes of a body.
_BODY_S = 1.0


class _Exchange(NamedTuple):
    """The request of a connection, and whether it was answered."""

    request: object
    is_idle: bool


class _Reception(NamedTuple):
    """How much of a request a connection has received.

    Attributes:
        request: the last request.
        received_at: time at which the last bytes came.
        patience_s: seconds for which a stopping server waits for more bytes.
    """

    request: object
    received_at: float
    patience_s: float


class _Stopwatch:
    """Measures for how long connections have not changed their state.

    A state is any value, such as an _Exchange.
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


class _TimedServer(UvicornServer):
    """Serves with limits on the time of each connection.

    It aborts connections of clients that are too slow, and stops only when all
    requests that are on their way are answered.

    Args:
        app: application that answers the requests of the connections.
    """

    def __init__(self, app: ServerApp) -> None:
        super().__init__(_create_uvicorn_config(app))
        self._app = app
        self._stopwatch = _Stopwatch()

    def watch(self) -> None:
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
        stopwatch = _Stopwatch()
        while self.connections and not self.must_stop_now:
            self.watch()
            self._close_silent(stopwatch)
            await asyncio.sleep(_IDLE_S / 10)

    def _close_silent(self, stopwatch: _Stopwatch) -> None:
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


def _patience_of(connection: Connection) -> float:
    """Returns for how many seconds a stopping server waits for more bytes."""
    if connection.is_idle:
        return _IDLE_S
    return math.inf if connection.has_complete_request else _BODY_S


class _ModelLoader(threading.Thread):
    """Loads the models while the server already answers /healthz.

    Args:
        app: application whose models are loaded.
        server: server to stop if a model cannot be loaded.
        address: URL of the server, for the log.

    Attributes:
        error: why a model cannot be loaded, or None.
    """

    def __init__(
        self, app: ServerApp, server: _TimedServer, address: str
    ) -> None:
        super().__init__(daemon=True)
        self._app = app
        self._server = server
        self._address = address
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._app.state.load_models()
            command = _format_request(self._app, self._address)
            logging.info("ready: %s\n  %s", self._address, command)
        except Exception as error:
            self.error = error
            self._server.stop()


def serve_until_signal(app: ServerApp, host: str, port: int) -> None:
    """Loads the models, and answers requests until SIGTERM or Ctrl-C.

    Requests that were accepted before the signal are still answered. `port` 0
    means any free port.

    Raises:
        OSError: a model is damaged.
        ValueError: the port is in use, or a model cannot be served.
    """
    # Listen before loading the models, so that an error about the address
    # appears at once, and not after minutes of loading.
    listener = _open_listener(host, port)
    url_host = f"[{host}]" if ":" in host else host
    address = f"http://{url_host}:{listener.getsockname()[1]}"
    server = _TimedServer(app)
    # Uvicorn installs its own handlers only while it serves, and raises the
    # signals again when it ends. Then these handlers run, without an effect.
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, server.stop_on_signal)
    loader = _ModelLoader(app, server, address)
    loader.start()
    logging.info("loading the models; %s/healthz is 200 afterwards", address)
    asyncio.run(server.serve([listener]))
    if loader.error:
        raise loader.error
    if loader.is_alive():
        # Python cannot end cleanly while a thread imports TensorFlow.
        os._exit(0)
    logging.info("stopped: all accepted requests are answered")


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


def _open_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ValueError(f"--port={port}: {error}; set another") from error
    # Disable Nagle's algorithm, with which the body of a reply waits 40 ms for
    # the client's ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _format_request(app: ServerApp, address: str) -> str:
    """Returns a command that asks the first model."""
    name, served_model = next(iter(app.state.models.items()))
    text_task = served_model.main_text_task
    text = "A [MASK]." if text_task.predicts_words else "A text."
    body = shlex.quote(json.dumps(dict.fromkeys(text_task.field_names, text)))
    url = f"{address}/api/models/{urllib.parse.quote(name)}/{text_task.name}"
    curl = "curl"
    if app.state.has_token:
        curl = "curl -H 'Authorization: Bearer TOKEN'"
    return f"{curl} -d {body} {url}"
