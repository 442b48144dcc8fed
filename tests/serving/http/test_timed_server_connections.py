"""What the server knows of its connections, and how its end is delayed.

tests/serving/http/test_server_process.py stops whole servers.
"""

import asyncio
import contextlib
import signal
import socket

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.serve_config import LimitOptions
from serving.http.server_state import ServerState
from serving.http.timed_server import Connection, TimedServer
from tests.support.waiting import TIMEOUT

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"


class App:
    """Replies to a request when its body is complete and it may."""

    def __init__(self):
        self.may_reply = asyncio.Event()
        self.state = ServerState(
            exports={}, limits=LimitOptions(), has_token=False
        )

    async def __call__(self, scope, receive, send):
        body = b""
        more_body = True
        while more_body:
            message = await receive()
            body += message.get("body", b"")
            more_body = message.get("more_body", False)
        await self.may_reply.wait()
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": body})


class NotingServer(TimedServer):
    """Notes how it is watched and drained, and calls `when_draining`."""

    def __init__(self, app):
        super().__init__(app)
        self.num_watches = 0
        self.steps = []
        self.when_draining = lambda: None

    def abort_slow_connections(self):
        self.num_watches += 1
        super().abort_slow_connections()

    async def drain(self, listeners):
        self.steps.append("drain")
        self.when_draining()
        await super().drain(listeners)
        self.steps.append("drained")


async def until(condition):
    """Waits until a function returns something true, and returns it."""
    async with asyncio.timeout(TIMEOUT):
        while not (value := condition()):
            await asyncio.sleep(0.01)
    return value


def run_with_server(test):
    """Runs `await test(server, app, open_client)`, and stops the server."""

    async def main():
        app = App()
        server = NotingServer(app)
        async with contextlib.AsyncExitStack() as stack:
            listener = socket.create_server(("127.0.0.1", 0))
            serving = asyncio.create_task(server.serve([listener]))
            await until(lambda: server.started)

            async def open_client():
                reader, writer = await asyncio.open_connection(
                    *listener.getsockname()
                )
                stack.callback(writer.close)
                return reader, writer

            await test(server, app, open_client)
            app.may_reply.set()
        server.stop()
        async with asyncio.timeout(TIMEOUT):
            await serving

    asyncio.run(main())


def test_a_connection_without_a_request_is_idle():
    async def check(server, app, open_client):
        await open_client()
        (connection,) = await until(lambda: server.connections)
        assert connection.received_at == 0
        assert connection.last_request is None
        assert connection.is_idle
        assert not connection.has_complete_request

    run_with_server(check)


def test_a_connection_knows_whether_a_request_is_complete():
    async def check(server, app, open_client):
        _, writer = await open_client()
        (connection,) = await until(lambda: server.connections)
        writer.write(HEAD + b"ab")
        await until(lambda: connection.last_request)
        assert not connection.is_idle
        assert not connection.has_complete_request
        writer.write(b"cd")
        await until(lambda: connection.has_complete_request)
        assert not connection.is_idle

    run_with_server(check)


def test_a_connection_knows_when_a_request_went_on():
    async def check(server, app, open_client):
        _, writer = await open_client()
        (connection,) = await until(lambda: server.connections)
        writer.write(HEAD + b"ab")
        await until(lambda: connection.last_request)
        received_at = connection.received_at
        assert received_at > 0
        writer.write(b"cd")
        await until(lambda: connection.has_complete_request)
        assert connection.received_at > received_at

    run_with_server(check)


def test_a_connection_is_idle_again_after_its_reply():
    async def check(server, app, open_client):
        reader, writer = await open_client()
        (connection,) = await until(lambda: server.connections)
        app.may_reply.set()
        writer.write(HEAD + b"abcd")
        assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
        await until(lambda: connection.is_idle)
        first_request = connection.last_request
        writer.write(HEAD + b"efgh")
        await reader.readuntil(b"efgh")
        assert connection.last_request is not first_request

    run_with_server(check)


@pytest.mark.parametrize("end", [Connection.abort, Connection.close])
def test_a_connection_can_be_ended(end):
    async def check(server, app, open_client):
        reader, _ = await open_client()
        (connection,) = await until(lambda: server.connections)
        end(connection)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        await until(lambda: not server.connections)

    run_with_server(check)


def test_the_server_watches_its_connections_repeatedly():
    async def check(server, app, open_client):
        await until(lambda: server.num_watches >= 3)

    run_with_server(check)


def test_a_stopping_server_answers_what_it_has_accepted():
    async def check(server, app, open_client):
        reader, writer = await open_client()
        writer.write(HEAD + b"abcd")
        await until(
            lambda: any(c.has_complete_request for c in server.connections)
        )
        (listener,) = server.servers[0].sockets
        address = listener.getsockname()
        server.stop()
        await until(lambda: server.steps)
        assert server.steps == ["drain"]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, TIMEOUT)
        app.may_reply.set()
        await reader.readuntil(b"abcd")
        writer.close()
        await until(lambda: server.steps == ["drain", "drained"])

    run_with_server(check)


def test_a_connection_that_only_the_system_has_accepted_is_served():
    """It came when the server began to stop, so no task has seen it yet."""

    async def check(server, app, open_client):
        app.may_reply.set()
        (listener,) = server.servers[0].sockets
        address = listener.getsockname()
        clients = []

        def connect():
            client = socket.create_connection(address, TIMEOUT)
            client.sendall(HEAD + b"abcd")
            clients.append(client)

        server.when_draining = connect
        server.stop()
        (client,) = await until(lambda: clients)
        reader, writer = await asyncio.open_connection(sock=client)
        await reader.readuntil(b"abcd")
        writer.close()
        await until(lambda: server.steps == ["drain", "drained"])
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, TIMEOUT)

    run_with_server(check)


@pytest.fixture
def interrupts_ignored():
    """Uvicorn raises each signal again when it ends."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, handler)


def test_a_second_ctrl_c_stops_the_server_at_once(interrupts_ignored):
    async def check(server, app, open_client):
        await open_client()
        await until(lambda: server.connections)
        server.stop_on_signal(signal.SIGINT, None)
        await until(lambda: server.steps)
        assert not server.force_exit
        server.stop_on_signal(signal.SIGINT, None)
        assert server.force_exit
        await until(lambda: server.steps == ["drain", "drained"])

    run_with_server(check)
