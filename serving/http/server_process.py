"""Runs the server in this process, from loading the models to SIGTERM.

The process listens before it loads the models, so that /healthz gets replies
meanwhile.
"""

import asyncio
import json
import os
import shlex
import signal
import socket
import threading
import urllib.parse

from absl import logging

from serving.http.app import ServerApp
from serving.http.server_state import ServerState
from serving.http.timed_server import TimedServer


def serve_until_signal(app: ServerApp, host: str, port: int) -> None:
    """Loads the models, and replies to requests until SIGTERM or Ctrl-C.

    Requests that were accepted before the signal still get replies. `port` 0
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
    server = TimedServer(app)
    # Uvicorn installs its own handlers only while it serves, and raises the
    # signals again when it ends. Then these handlers run, without an effect.
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, server.stop_on_signal)
    loader = ModelLoader(app.state, server, address)
    loader.start()
    logging.info("loading the models; %s/healthz is 200 afterwards", address)
    asyncio.run(server.serve([listener]))
    if loader.error:
        raise loader.error
    if loader.is_alive():
        # Python cannot end cleanly while a thread imports TensorFlow.
        os._exit(0)
    logging.info("stopped: all accepted requests are answered")


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


class ModelLoader(threading.Thread):
    """A thread that loads the models while /healthz already gets replies.

    Args:
        state: state of the server, whose models are loaded.
        server: server to stop if a model cannot be loaded.
        address: URL of the server, for the log.

    Attributes:
        error: why a model cannot be loaded, or None.
    """

    def __init__(
        self, state: ServerState, server: "TimedServer", address: str
    ) -> None:
        super().__init__(daemon=True)
        self._state = state
        self._server = server
        self._address = address
        self.error: Exception | None = None

    def run(self) -> None:
        """Loads the models, and logs a request to try. Or stops the server."""
        try:
            self._state.load_models()
            command = _format_request(self._state, self._address)
            logging.info("ready: %s\n  %s", self._address, command)
        except Exception as error:
            self.error = error
            self._server.stop()


def _format_request(state: ServerState, address: str) -> str:
    """Returns a command that asks the first model."""
    name, worker = next(iter(state.workers.items()))
    text_task = worker.text_model.text_task()
    text = "A [MASK]." if text_task.predicts_words else "A text."
    body = shlex.quote(json.dumps(dict.fromkeys(text_task.field_names, text)))
    url = f"{address}/api/models/{urllib.parse.quote(name)}/{text_task.name}"
    curl = "curl"
    if state.has_token:
        curl = "curl -H 'Authorization: Bearer TOKEN'"
    return f"{curl} -d {body} {url}"
