"""Clients that do not read or wait, and servers that are not ready.

The servers are processes of serving/http/server_process.py, whose models need
no network.
"""

import contextlib
import functools
import os
import socket
import threading
from types import SimpleNamespace

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.engines import EngineOptions
from serving.http import server_process
from serving.http.app import ServerApp
from serving.http.serve_config import LimitOptions
from serving.http.server_state import ExportToServe
from tests.support import fork_server
from tests.support.serving.echo_models import EchoEngine, EchoExport
from tests.support.serving.server_process import send_bytes
from tests.support.waiting import TIMEOUT, wait_until


class EndlessExport(ExportToServe):
    """An export whose model is never loaded."""

    def load_worker(self):
        threading.Event().wait()


# Of a reply: more bytes than a system holds for a client that does not read.
LONG_REPLY = 15_000_000


def serve_long_replies(port):
    export = EchoExport(engine=EchoEngine(output_of=lambda _: "a" * LONG_REPLY))
    server = ServerApp.create({"m": export}, limits=LimitOptions(timeout_s=3))
    server_process.serve_until_signal(server, "127.0.0.1", port)


def serve_when_allowed(folder, port):
    """Writes `is_waiting`, and computes once there is the file `is_allowed`.

    Replies are all batches until then.
    """

    def wait():
        (folder / "is_waiting").touch()
        wait_until((folder / "is_allowed").exists)

    engine = EchoEngine(wait, lambda _: engine.batches)
    server = ServerApp.create({"m": EchoExport(engine=engine)})
    server_process.serve_until_signal(server, "127.0.0.1", port)


def serve_before_loading(port):
    export = EndlessExport("", EngineOptions())
    server_process.serve_until_signal(
        ServerApp.create({"m": export}), "127.0.0.1", port
    )


GET = b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
POST = (
    b"POST /api/models/m/task HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
    b'Content-Length: %d\r\n\r\n{"text": "%s"}'
)


def read_health(server):
    """Returns the reply of a server, empty if it does not listen yet."""
    try:
        return send_bytes(server, GET % b"/healthz")
    except ConnectionRefusedError:
        return b""


@contextlib.contextmanager
def served_by(target, status):
    """A server in a process of its own with this health, until SIGTERM."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = fork_server.PROCESSES.Process(target=target, args=[port])
    process.start()
    server = SimpleNamespace(port=port, pid=process.pid)
    try:
        wait_until(lambda: status in read_health(server))
        yield server
    finally:
        process.terminate()
        process.join(TIMEOUT)
    assert process.exitcode == 0


def count_sockets(server):
    """Returns the number of sockets that a server has open."""
    folder = f"/proc/{server.pid}/fd"
    links = []
    for name in os.listdir(folder):
        # A file may be closed by now.
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(f"{folder}/{name}"))
    return sum(link.startswith("socket:") for link in links)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc")
def test_a_connection_ends_if_its_reply_is_left_unread():
    """The rest of the reply is dropped, and its memory is free."""
    head = b"POST /api/models/m/task HTTP/1.1\r\nHost: a\r\n"
    request = head + b'Content-Length: 13\r\n\r\n{"text": "a"}'
    last = request.replace(b"Host", b"Connection: close\r\nHost")
    with served_by(serve_long_replies, b" 200 ") as server:
        assert len(send_bytes(server, last, shut=False)) > LONG_REPLY
        num_sockets = count_sockets(server)
        with socket.create_connection(
            ("127.0.0.1", server.port), TIMEOUT
        ) as client:
            client.sendall(request)
            wait_until(lambda: count_sockets(server) > num_sockets)
            # The server closes the connection by itself.
            wait_until(lambda: count_sockets(server) == num_sockets)
            received = 0
            with contextlib.suppress(ConnectionError):
                while part := client.recv(1 << 16):
                    received += len(part)
        assert 0 < received < LONG_REPLY


def test_nothing_is_computed_for_a_client_that_is_gone(tmp_path):
    serve = functools.partial(serve_when_allowed, tmp_path)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(served_by(serve, b" 200 "))

        def ask(text):
            address = ("127.0.0.1", server.port)
            client = socket.create_connection(address, TIMEOUT)
            client.sendall(POST % (len(text) + 12, text))
            return client

        first = stack.enter_context(ask(b"first"))
        wait_until((tmp_path / "is_waiting").exists)
        for _ in range(5):
            ask(b"gone").close()
        # The server reads what came earlier, too.
        for _ in range(3):
            send_bytes(server, GET % b"/healthz")
        last = stack.enter_context(ask(b"last"))
        (tmp_path / "is_allowed").touch()
        first.recv(1)
        reply = b"".join(iter(functools.partial(last.recv, 1000), b""))
    assert b'{"text": [["first"], ["last"]]}' in reply


def test_sigterm_while_models_load_ends_the_server():
    with served_by(serve_before_loading, b" 503 ") as server:
        reply = send_bytes(server, GET % b"/api/models")
        assert b" 503 " in reply
        assert b"loading" in reply
