"""serve.py as a process, asked by many clients, good and hostile ones.

serving/http/handlers.py reads what clients send,
serving/http/request_bodies.py refuses what is too large, and
serving/http/uvicorn_server.py holds the connections.
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
from serving.text_tasks.asking import ModelAsker
from serving.text_tasks.text_task import ReplyOptions
from tests.support.checkpoints import assert_same
from tests.support.serving.exports import MASKED, TEXTS
from tests.support.serving.server_process import running_server, send_bytes

TEXT = {"text": "The harbor light is on."}
TAG = "/api/models/ner/tag"
CLASSIFY = "/api/models/classifier/classify"
HEAD = b"POST /api/models/ner/tag HTTP/1.1\r\nHost: a\r\n"
WITH_MASKS = [text for text in MASKED if "[MASK]" in text]
# (kind of model, task, requests)
TASKS = [
    ("classifier", "classify", [{"text": text} for text in TEXTS]),
    (
        "squad",
        "answer",
        [{"question": "Who?", "context": text} for text in TEXTS],
    ),
    ("ner", "tag", [{"text": text} for text in TEXTS]),
    ("pretraining", "fill-mask", [{"text": text} for text in WITH_MASKS]),
    ("features", "embed", [{"text": text} for text in TEXTS]),
    ("features", "tokenize", [{"text": text} for text in TEXTS]),
]


# Clients that ask at the same time, and how often each request is sent.
NUM_CLIENTS = 64
NUM_REPEATS = 4
EACH_TASK = pytest.mark.parametrize(("kind", "task", "requests"), TASKS)


@pytest.fixture
def ask_python(load_text_model):
    """(kind, task, requests) -> the replies of the model in this process."""

    def ask_python(kind, task, requests):
        model = load_text_model(kind)
        reply_options = ReplyOptions(top_k=8, n_best=8)
        return ModelAsker(
            model.text_engine, model.text_task(task), reply_options
        ).ask(requests)

    return ask_python


def check_reply(server, path, body, expected):
    """Checks what a server replies to a request."""
    status, reply = server.ask("POST", path, body)
    assert status == 200, reply
    assert_same(reply, expected, 1e-4)


@EACH_TASK
def test_one_request_has_the_reply_of_python(
    server_of_all_kinds, ask_python, kind, task, requests
):
    _, request, *_ = requests
    (expected,) = ask_python(kind, task, [request])
    check_reply(
        server_of_all_kinds, f"/api/models/{kind}/{task}", request, expected
    )


@EACH_TASK
def test_a_list_of_requests_has_the_replies_of_python(
    server_of_all_kinds, ask_python, kind, task, requests
):
    expected = ask_python(kind, task, requests)
    check_reply(
        server_of_all_kinds, f"/api/models/{kind}/{task}", requests, expected
    )


@EACH_TASK
def test_a_request_of_lists_has_the_replies_of_python(
    server_of_all_kinds, ask_python, kind, task, requests
):
    expected = ask_python(kind, task, requests)
    body = {
        field: [request[field] for request in requests] for field in requests[0]
    }
    check_reply(
        server_of_all_kinds, f"/api/models/{kind}/{task}", body, expected
    )


@pytest.mark.parametrize(
    ("kind", "task", "requests"),
    [
        (kind, task, requests)
        for kind, task, requests in TASKS
        # It is not the first task of its model.
        if task != "tokenize"
    ],
)
def test_the_path_of_tensorflow_serving_has_the_replies_of_python(
    server_of_all_kinds, ask_python, kind, task, requests
):
    expected = {"predictions": ask_python(kind, task, requests)}
    # Only a question has two fields.
    instances = [
        request if task == "answer" else request["text"] for request in requests
    ]
    body = {"instances": instances}
    check_reply(
        server_of_all_kinds, f"/v1/models/{kind}:predict", body, expected
    )


def test_64_clients_get_the_replies_of_one(server_of_all_kinds):
    """Whatever else is in a batch, a reply is to its own text."""
    requests = [
        (f"/api/models/{kind}/{task}", request)
        for kind, task, many in TASKS
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


# Brackets in brackets, more than a reader of JSON can follow.
TOO_DEEP = "[" * 50_000
MAX_TEXTS = LimitOptions().max_texts
# {what is asked: (method, path, body, status, part of the reply)}
REPLIES = {
    "unknown model": ("POST", "/api/models/none/tag", TEXT, 404, "ner"),
    "unknown task": (
        "POST",
        "/api/models/ner/embed",
        TEXT,
        404,
        "choose from tag",
    ),
    "unknown signature": (
        "POST",
        "/v1/models/ner:classify",
        {"instances": []},
        404,
        "paths are",
    ),
    "unknown page": ("GET", "/docs", None, 404, ""),
    "file outside of the page": ("GET", "/%2e%2e/server.py", None, 404, ""),
    "wrong method": ("GET", TAG, None, 405, "use POST"),
    "not JSON": ("POST", TAG, TOO_DEEP, 400, "JSON"),
    "half of a surrogate pair": (
        "POST",
        TAG,
        '{"text": "\\ud800"}',
        400,
        "surrogate",
    ),
    "missing field": ("POST", CLASSIFY, {"txt": 3}, 400, "'text' is missing"),
    "null in a list": (
        "POST",
        TAG,
        [TEXT, {"text": None}],
        400,
        "text 2: 'text'",
    ),
    "lists of two lengths": (
        "POST",
        "/api/models/squad/answer",
        {"question": ["a"], "context": ["b", "c"]},
        400,
        "context, question",
    ),
    "instances that are no list": (
        "POST",
        "/v1/models/ner:predict",
        {"instances": "a"},
        400,
        "instances",
    ),
    "too many texts": (
        "POST",
        TAG,
        {"text": ["a"] * (MAX_TEXTS + 1)},
        413,
        "--max_texts",
    ),
    "no texts": ("POST", TAG, {"text": []}, 200, "[]"),
    "no instances": (
        "POST",
        "/v1/models/ner:predict",
        {"instances": []},
        200,
        "predictions",
    ),
    "surrogate in a field that no task reads": (
        "POST",
        TAG,
        '{"text": "a", "b": "\\ud800"}',
        200,
        '"words": ["a"]',
    ),
    "description of the paths": (
        "GET",
        "/openapi.json",
        None,
        200,
        "passages",
    ),
}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "part"), REPLIES.values(), ids=REPLIES
)
def test_the_server_replies_to_a_request_with_its_status(
    server_of_all_kinds, method, path, body, status, part
):
    result, reply = server_of_all_kinds.ask(method, path, body)
    assert result == status, reply
    assert part in json.dumps(reply)
    if status >= 400:
        assert [*reply] == ["error"]
        assert "\n" not in reply["error"]


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


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer b"},
        {"Authorization": SECRET},
        {"Authorization": "Bearer \xe9"},
    ],
)
def test_a_path_of_models_without_the_token_gets_status_401(
    guarded_server, headers
):
    paths = ("/api/models", "/openapi.json", "/v1/models/ner", "/nothing")
    for path in paths:
        status, reply = guarded_server.ask("GET", path, None, headers)
        assert status == 401
        assert "TOKEN" in reply["error"]


@pytest.mark.parametrize("path", ["/healthz", "/", "/page.js"])
def test_health_and_page_need_no_token(guarded_server, path):
    assert guarded_server.ask("GET", path)[0] == 200


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("Bearer a-secret-word", 200),
        ("bearer a-secret-word", 200),
        ("BEARER  a-secret-word", 200),
        ("Bearer A-secret-word", 401),
        ("Basic a-secret-word", 401),
    ],
)
def test_the_server_compares_the_case_of_a_token_but_not_of_bearer(
    guarded_server, word, status
):
    sent = {"Authorization": word}
    assert guarded_server.ask("GET", "/api/models", None, sent)[0] == status


def test_the_log_shows_how_to_ask_with_a_token(guarded_server):
    command = re.search("curl .*", guarded_server.script.stderr())[0]
    *_, header, _, body, url = shlex.split(command)
    assert header == "Authorization: Bearer TOKEN"
    assert url == f"http://127.0.0.1:{guarded_server.port}{TAG}"
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
