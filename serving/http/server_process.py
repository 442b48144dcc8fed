"""Runs the server in this process, from loading the models to SIGTERM."""

import asyncio
import os
import signal
import socket

from absl import logging

from serving.http.app import ServerApp
from serving.http.model_loader import ModelLoader
from serving.http.timed_server import TimedServer


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
