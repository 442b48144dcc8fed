"""serve.py as a process: many clients at once, hostile ones, and its end.

The files test_app_*.py ask the same application without a connection.
"""

import contextlib
import http.client
import json
import random
import re
import shlex
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.serve_config import LimitOptions
from tests.support.checkpoints import assert_same
from tests.support.serving.exports import TEXT_TASK_REQUESTS
from tests.support.serving.server_process import running_server, send_bytes

TEXT = {"text": "The harbor light is on."}
TAG = "/api/models/ner/tag"
HEAD = b"POST /api/models/ner/tag HTTP/1.1\r\nHost: a\r\n"
# Clients that ask at the same time, and how often each request is sent.
NUM_CLIENTS = 64
NUM_REPEATS = 4


@pytest.fixture(scope="module")
def server_of_all_kinds(tmp_path_factory, saved_models_folder):
    """A server with the SavedModel of every kind that accepts texts."""
    models = {
        kind: saved_models_folder / kind for kind, _, _ in TEXT_TASK_REQUESTS
    }
    folder = tmp_path_factory.mktemp("server")
    with running_server(folder, models) as process:
        yield process


def test_64_clients_get_the_replies_of_one(server_of_all_kinds):
    """Whatever else is in a batch, a reply is to its own text."""
    requests = [
        (f"/api/models/{kind}/{task}", request)
        for kind, task, many in TEXT_TASK_REQUESTS
        for request in many
    ]
    alone = [server_of_all_kinds.ask("POST", *request) for request in requests]
    assert {status for status, _ in alone} == {200}
    with ThreadPoolExecutor(NUM_CLIENTS) as pool:
        numbers = [*range(len(requests))] * NUM_REPEATS
        random.Random(1).shuffle(numbers)
        result = pool.map(
            lambda i: server_of_all_kinds.ask("POST", *requests[i]), numbers
        )
        for number, (status, reply) in zip(numbers, result, strict=True):
            assert status == 200
            assert_same(reply, alone[number][1], 1e-4)


MAX_BYTES = LimitOptions().max_body_bytes
CHUNK_SIZE = 1 << 16
CHUNK = b"%x\r\n" % CHUNK_SIZE + b" " * CHUNK_SIZE + b"\r\n"
NUM_CHUNKS = 2 * MAX_BYTES // CHUNK_SIZE
# A line of a request's head that is longer than any server reads.
LONG = b"y" * 200_000
TOO_LARGE = {
    "a length of terabytes": (
        HEAD + b"Content-Length: 99999999999999\r\n\r\n" + b" " * 10**6
    ),
    "two megabytes": (
        HEAD + b"Content-Length: 2000000\r\n\r\n" + b" " * 2_000_000
    ),
    "many chunks": (
        HEAD
        + b"Transfer-Encoding: chunked\r\n\r\n"
        + CHUNK * NUM_CHUNKS
        + b"0\r\n\r\n"
    ),
}
HOSTILE = [
    b"\0\xff\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET " + LONG + b" HTTP/1.1\r\n\r\n",
    HEAD + b"X: " + LONG + b"\r\n\r\n",
    HEAD + b"Content-Length: -1\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
    *TOO_LARGE.values(),
    HEAD + b"Content-Length: 10\r\n\r\n{",
    b"",
]


def test_malformed_requests_prevent_no_reply_to_other_clients(
    server_of_all_kinds,
):
    # Each of HOSTILE several times, beside different others.
    num_requests = 5 * len(HOSTILE) + 2

    def ask_after_a_hostile_client(number):
        send_bytes(server_of_all_kinds, HOSTILE[number % len(HOSTILE)])
        return server_of_all_kinds.ask("POST", TAG, TEXT)

    with ThreadPoolExecutor(8) as pool:
        replies = [*pool.map(ask_after_a_hostile_client, range(num_requests))]
    assert [status for status, _ in replies] == [200] * num_requests
    assert {len(reply["words"]) for _, reply in replies} == {6}
    assert "Traceback" not in server_of_all_kinds.script.stderr()


@pytest.mark.parametrize("body", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_body_that_is_too_large_is_refused(server_of_all_kinds, body):
    reply = send_bytes(server_of_all_kinds, body)
    assert b"413" in reply.split(b"\r\n")[0]


SECRET = "a-secret-word"
PROOF = {"Authorization": f"Bearer {SECRET}"}


@pytest.fixture(scope="module")
def guarded_server(tmp_path_factory, export_folders):
    """A server that asks for a token, and waits two seconds for a request."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").write_text(f"{SECRET}\n")
    flags = {"token_file": "token", "timeout_s": 2}
    with running_server(
        folder, {"ner": export_folders["ner"]}, **flags
    ) as server:
        yield server


def test_the_log_shows_how_to_ask_with_a_token(guarded_server):
    command = re.search("curl .*", guarded_server.script.stderr())[0]
    *_, header, _, body, url = shlex.split(command)
    assert header == "Authorization: Bearer TOKEN"
    assert url == f"http://127.0.0.1:{guarded_server.port}{TAG}"
    assert guarded_server.ask("POST", TAG, body)[0] == 401
    assert guarded_server.ask("POST", TAG, body, PROOF)[0] == 200


def test_a_missing_body_or_head_keeps_no_connection(guarded_server):
    token = f"Authorization: {PROOF['Authorization']}\r\n".encode()
    head = HEAD + token + b"Content-Length: 9\r\n"
    with ThreadPoolExecutor(2) as pool:
        body, none = pool.map(
            lambda data: send_bytes(guarded_server, data, shut=False),
            [head + b"\r\n{", head],
        )
    assert b"408" in body.split(b"\r\n")[0]
    assert none == b""


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# Bytes of a body that `begin_request` sends.
NUM_FIRST_BYTES = 5


def begin_request(client, data):
    """Sends a request's head and its first bytes, once the server waits."""
    client.putrequest("POST", TAG)
    client.putheader("Content-Length", str(len(data)))
    client.putheader("Expect", "100-continue")
    client.endheaders()
    # The server says so when it has read the head, and wants the body.
    assert client.sock.recv(len(CONTINUE) + 1) == CONTINUE
    client.send(data[:NUM_FIRST_BYTES])


def test_at_sigterm_every_accepted_request_gets_its_reply(
    tmp_path, export_folders
):
    num_texts = 3
    data = json.dumps([TEXT] * num_texts).encode()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(
            running_server(tmp_path, {"ner": export_folders["ner"]})
        )
        clients = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in clients:
            begin_request(client, data)
        server.start_to_stop()
        for client in clients:
            client.send(data[NUM_FIRST_BYTES:])
        for client in clients:
            response = client.getresponse()
            assert response.status == 200
            assert len(json.load(response)) == num_texts
        assert server.stop() == 0, server.script.stderr()
    assert "all accepted requests are answered" in server.script.stderr()
    with pytest.raises(ConnectionRefusedError):
        server.ask("GET", "/healthz")


def test_a_stop_closes_a_connection_whose_body_is_late(
    tmp_path, export_folders
):
    data = json.dumps(TEXT).encode()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(
            running_server(
                tmp_path, {"ner": export_folders["ner"]}, timeout_s=600
            )
        )
        client = stack.enter_context(server.connect())
        begin_request(client, data)
        server.start_to_stop()
        # The server closes the connection, without a reply.
        with pytest.raises((http.client.RemoteDisconnected, OSError)):
            client.getresponse()
        assert server.stop() == 0, server.script.stderr()
    assert "Traceback" not in server.script.stderr()
