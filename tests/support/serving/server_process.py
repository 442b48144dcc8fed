"""serve.py in a process of its own, on a free port by default.

For example:

    with running_server(tmp_path, {"ner": export}) as server:
        status, reply = server.ask("GET", "/healthz")
"""

import contextlib
import errno
import http.client
import json
import re
import signal
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from files.paths import StrPath
from tests.support import script_runner
from tests.support.waiting import TIMEOUT

# What a system says of a connection that the other side has closed.
CLOSED = (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN)


class ServerProcess:
    """A server, whose models are loaded, and its port."""

    def __init__(
        self,
        folder: StrPath,
        models: Mapping[str, StrPath],
        *arguments: StrPath,
        **flags: Any,
    ) -> None:
        self.script = script_runner.start(
            "serve.py",
            folder,
            *(f"--model={name}={path}" for name, path in models.items()),
            *arguments,
            **{"port": 0} | flags,
        )
        ready = re.compile(r"ready: http://127\.0\.0\.1:(\d+)")
        match = self.script.wait_until(
            lambda: ready.search(self.script.stderr())
        )
        self.port = int(match[1])

    def connect(
        self,
    ) -> "contextlib.closing[http.client.HTTPConnection]":
        """Returns a connection that closes at the end of a `with` block."""
        return contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        )

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Returns (status, parsed JSON or text) of a reply."""
        with self.connect() as connection:
            status, reply, _ = ask(connection, method, path, body, headers)
            return status, reply

    def start_to_stop(self) -> None:
        """Sends SIGTERM; returns when the server accepts no connection."""
        self.script.send(signal.SIGTERM)
        self.script.wait_until(lambda: not self._accepts_connections())

    def _accepts_connections(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def stop(self) -> int:
        """Sends SIGTERM; returns the exit status."""
        with self.script:
            if self.script.is_alive():
                self.script.send(signal.SIGTERM)
            return self.script.finish().status


def ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: Any = None,  # noqa: ANN401  JSON, text, or what http.client sends
    headers: Mapping[str, str] | None = None,
) -> tuple[int, Any, http.client.HTTPMessage]:
    """Returns (status, parsed JSON or text, headers) of a reply."""
    if isinstance(body, dict | list):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    text = response.read().decode()
    is_json = response.headers.get_content_type() == "application/json"
    if is_json and method != "HEAD":
        text = json.loads(text)
    return response.status, text, response.headers


@contextlib.contextmanager
def running_server(
    folder: StrPath,
    models: Mapping[str, StrPath],
    *arguments: StrPath,
    **flags: Any,
) -> Iterator[ServerProcess]:
    """Yields a ServerProcess that ends with the block."""
    for package in ("fastapi", "uvicorn"):
        pytest.importorskip(package, reason="needs requirements/serve.txt")
    server = ServerProcess(folder, models, *arguments, **flags)
    try:
        yield server
    finally:
        server.stop()


def send_bytes(server: ServerProcess, data: bytes, shut: bool = True) -> bytes:
    """Returns what the server answers to raw bytes."""
    received = bytearray()
    with socket.create_connection(
        ("127.0.0.1", server.port), TIMEOUT
    ) as client:
        try:
            client.sendall(data)
            if shut:
                client.shutdown(socket.SHUT_WR)
            while part := client.recv(65536):
                received += part
        except OSError as error:
            # The server may close the connection before the request's end.
            if error.errno not in CLOSED:
                raise
        return bytes(received)
