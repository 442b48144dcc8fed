"""serve.py asked by clients that send too much, vanish, or never pause."""

import contextlib
import http.client
import json
import select
import signal
import threading

import pytest

from tests.support.serving.server_process import ask, running_server
from tests.support.waiting import TIMEOUT, wait_until

TAG = "/api/models/ner/tag"
ANSWER = "/api/models/squad/answer"
# Bodies of the largest allowed number of WordPieces.
LARGEST = [
    (ANSWER, {"question": "Who?", "context": "." * 16_000}),
    (ANSWER, {"question": "Who?", "context": ". " * 16_000}),
    (TAG, {"text": "a " * 16_000}),
]
SHORT = [
    (ANSWER, {"question": "Who?", "context": "Anna is on the boat."}),
    (TAG, {"text": "The harbor light is on."}),
]


# A server that waits so long for a client at its end is killed by the test, and
# its exit status is not 0.
PATIENT = 2 * TIMEOUT


@pytest.fixture
def server(tmp_path, export_folders):
    """Has models that read texts of any length, in windows."""
    models = {kind: export_folders[kind] for kind in ("squad", "ner")}
    with running_server(tmp_path, models, timeout_s=PATIENT) as process:
        yield process


@pytest.mark.parametrize(
    ("path", "field", "text", "number"),
    [
        (ANSWER, "context", "." * 250_000, 250_001),
        (TAG, "text", "a " * 125_000, 125_000),
        (TAG, "words", ["a"] * 50_000, 50_000),
        ("/api/models/ner/tokenize", "text", "a " * 20_000, 20_000),
    ],
)
def test_too_many_wordpieces_are_refused(server, path, field, text, number):
    body = {field: text} | ({"question": "a"} if path == ANSWER else {})
    status, reply = server.ask("POST", path, body)
    assert status == 413
    assert f"{number} WordPieces are more than 16384" in reply["error"]
    assert "--max_pieces" in reply["error"]


def test_a_cut_text_counts_only_its_read_wordpieces(tmp_path, export_folders):
    models = {"classifier": export_folders["classifier"]}
    with running_server(tmp_path, models, max_pieces=100) as server:
        path = "/api/models/classifier/classify"
        long = {"text": "a " * 5_000}
        assert server.ask("POST", path, long)[0] == 200
        status, reply = server.ask("POST", path, [long] * 5)
        assert status == 413
        assert "120 WordPieces" in reply["error"]


def start_thread(function, *arguments):
    """Starts a thread, which ends with the tests if it does not end before."""
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def join_all(threads):
    """Waits until all threads have ended."""
    wait_until(lambda: not any(thread.is_alive() for thread in threads))


def test_vanished_clients_cause_no_error(server):
    for _ in range(30):
        for path, body in LARGEST:
            with server.connect() as connection:
                connection.request("POST", path, json.dumps(body))
    assert server.stop() == 0, server.script.stderr()
    assert "Traceback" not in server.script.stderr()


def ask_until_the_end(server, replies, broken):
    """Asks without a pause, on one connection as long as it stays open."""
    connection = None
    while True:
        if connection is None:
            connection = http.client.HTTPConnection(
                "127.0.0.1", server.port, timeout=60
            )
            try:
                connection.connect()
            except ConnectionRefusedError:
                return
        try:
            status, reply, headers = ask(connection, "POST", *SHORT[1])
            assert status == 200
            assert len(reply["words"]) == 6
            replies.append(headers["Connection"])
        except Exception as error:
            broken.append(repr(error))
            return
        if headers["Connection"] == "close":
            connection.close()
            connection = None


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(3))
def test_a_stop_breaks_no_request(attempt, tmp_path, export_folders):
    """64 clients without a pause."""
    replies, broken = [], []
    models = {"ner": export_folders["ner"]}
    with running_server(tmp_path, models, timeout_s=PATIENT) as server:
        threads = [
            start_thread(ask_until_the_end, server, replies, broken)
            for _ in range(64)
        ]
        wait_until(lambda: len(replies) >= 500 or broken)
        server.script.send(signal.SIGTERM)
        join_all(threads)
        assert server.stop() == 0, server.script.stderr()
    assert not broken, (len(replies), broken)
    assert replies.count("close") == 64


def test_an_idle_connection_may_ask_once_more_at_a_stop(server):
    with contextlib.ExitStack() as stack:
        late, half, idle = (
            stack.enter_context(server.connect()) for _ in range(3)
        )
        for connection in (late, half, idle):
            assert ask(connection, "GET", "/healthz")[0] == 200
        server.start_to_stop()
        half.sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ")
        status, _, headers = ask(late, "POST", *SHORT[0])
        assert status == 200
        assert headers["Connection"] == "close"
        # A request that comes byte by byte keeps its connection, while the
        # server closes the idle one.
        while not select.select([idle.sock], [], [], 0.1)[0]:
            half.sock.sendall(b"x")
        assert idle.sock.recv(1) == b""
        half.sock.sendall(b"\r\n\r\n")
        received = half.sock.recv(1000).lower()
        assert b" 200 " in received
        assert b"connection: close" in received
        assert server.stop() == 0, server.script.stderr()
