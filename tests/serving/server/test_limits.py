"""serve.py as a process: its limits, new versions, and its end."""

import asyncio
import collections
import gzip
import http.client
import json
import signal
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from serving.server.limits import Limits
from tests.serving.server.server_process import running, send


@pytest.mark.slow
def test_limits_versions_and_the_end(tmp_path, export_folder):
    versions = tmp_path / "versions"
    versions.mkdir()
    (versions / "3").symlink_to(export_folder / "classifier")
    token, log = tmp_path / "token", tmp_path / "requests.jsonl"
    token.write_text("a-secret-word\n")
    flags = {
        "token_file": token,
        "request_log": log,
        "max_queue": 3,
        "max_batch_size": 1,
        "max_texts": 3,
        "max_wordpieces": 30,
        "timeout_s": 3,
        "poll_s": 0.1,
    }
    with running(tmp_path, {"m": versions}, **flags) as server:
        proof = {"Authorization": "Bearer a-secret-word"}
        path = "/v1/models/m:predict"

        def ask(instances, **more):
            body = {"signature_name": "classify_text", "instances": instances}
            return server.ask("POST", path, body | more, proof)

        check_token(server, proof)
        check_sizes(ask)
        check_slow_clients(server)
        check_full_queue(ask)
        check_new_versions(server, versions, export_folder, proof)
        check_end(server, proof)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {200, 400, 401, 404, 408, 413, 429} <= {
        line["status"] for line in lines
    }
    assert all("secret" not in json.dumps(line) for line in lines)
    assert all("harbor" not in json.dumps(line) for line in lines)


def check_token(server, proof):
    for headers in (
        {},
        {"Authorization": "Bearer b"},
        {"Authorization": "a-secret-word"},
        {"Authorization": "Bearer \xe9"},
    ):
        for path in ("/v1/models/m", "/metrics", "/api/models"):
            status, answer, _ = server.ask("GET", path, None, headers)
            assert status == 401 and "token" in answer["error"]
    for path in ("/healthz", "/readyz", "/"):
        assert server.ask("GET", path)[0] == 200
    assert server.ask("GET", "/v1/models/m", None, proof)[0] == 200


def check_sizes(ask):
    assert ask(["a"] * 3)[0] == 200
    status, answer, _ = ask(["a"] * 4)
    assert status == 413 and "--max_texts" in answer["error"]
    # The answer quotes the request, which the log may not.
    status, answer, _ = ask("the harbor")
    assert status == 400 and "the harbor" in answer["error"]
    # Long, but of few WordPieces; then of too many.
    assert ask(["the " * 15])[0] == 200
    status, answer, _ = ask(["the " * 31])
    assert status == 413 and "31 WordPieces are more than 30" in answer["error"]


def check_slow_clients(server):
    """Neither a body nor a head that does not come keeps a connection."""
    began = time.monotonic()
    head = (
        b"POST /v1/models/m:predict HTTP/1.1\r\nHost: a\r\n"
        b"Authorization: Bearer a-secret-word\r\nContent-Length: 9\r\n"
    )
    with ThreadPoolExecutor(2) as pool:
        body, none = pool.map(
            lambda data: send(server, data, shut=False), [head + b"\r\n{", head]
        )
    assert b"408" in body.split(b"\r\n")[0]
    assert none == b""
    assert time.monotonic() - began < 60


def check_full_queue(ask):
    texts = ["the harbor light"] * 3

    def keep_asking(_):
        return [ask(texts)[0] for _ in range(12)]

    with ThreadPoolExecutor(16) as pool:
        statuses = [
            one for many in pool.map(keep_asking, range(16)) for one in many
        ]
    assert {*statuses} == {200, 429}
    assert ask(texts)[0] == 200


def check_new_versions(server, versions, export_folder, proof):
    def until(predicate):
        end = time.monotonic() + 60
        while True:
            _, found, _ = server.ask("GET", "/v1/models/m", None, proof)
            states = {
                one["version"]: one["state"]
                for one in found["model_version_status"]
            }
            if predicate(states):
                return found
            assert time.monotonic() < end, found
            time.sleep(0.1)

    path = "/v1/models/m/versions/{}:predict"
    body = {"signature_name": "classify_text", "instances": ["a"]}
    assert server.ask("POST", path.format(3), body, proof)[0] == 200
    # Not whole, so not served; nor does it end the server.
    (versions / "8").mkdir()
    (versions / "9").mkdir()
    (versions / "9" / "saved_model.pb").write_bytes(b"damaged")
    found = until(lambda states: states.get("9") == "END")
    assert found["model_version_status"][0]["status"]["error_code"] != "OK"
    assert server.ask("POST", path.format(3), body, proof)[0] == 200
    swapped = threading.Event()

    def keep_asking(_):
        statuses = collections.Counter()
        while not swapped.is_set():
            answer = server.ask("POST", "/v1/models/m:predict", body, proof)
            statuses[answer[0]] += 1
        return statuses

    with ThreadPoolExecutor(2) as pool:
        clients = [pool.submit(keep_asking, number) for number in range(2)]
        try:
            (versions / "10").symlink_to(export_folder / "classifier")
            until(lambda states: states.get("10") == "AVAILABLE")
        finally:
            swapped.set()
    # While one version took the other's place, no request was lost.
    assert all({*client.result()} == {200} for client in clients)
    assert server.ask("POST", path.format(10), body, proof)[0] == 200
    status, answer, _ = server.ask("POST", path.format(3), body, proof)
    assert status == 404
    assert answer["error"] == ("Servable not found for request: Specific(m, 3)")


def check_end(server, proof):
    """At SIGTERM every accepted request gets its whole answer."""
    body = {"signature_name": "classify_text", "instances": ["a"] * 3}
    data = json.dumps(body).encode()

    def connect():
        client = http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=60
        )
        # The server has taken what it has read the head of.
        client.putrequest("POST", "/v1/models/m:predict")
        client.putheader("Content-Length", str(len(data)))
        client.putheader("Authorization", proof["Authorization"])
        client.endheaders(data[:5])
        return client

    clients = [connect() for _ in range(3)]
    time.sleep(0.5)
    server.script.send(signal.SIGTERM)
    time.sleep(0.5)
    for client in clients:
        client.send(data[5:])
    for client in clients:
        response = client.getresponse()
        found = json.loads(response.read())
        assert response.status == 200, found
        assert len(found["predictions"]) == 3
        client.close()
    assert server.stop() == 0, server.script.stderr()
    assert "all accepted requests are answered" in server.script.stderr()
    with pytest.raises(ConnectionRefusedError):
        server.ask("GET", "/healthz")


def test_gzip_does_not_block_other_requests():
    body = gzip.compress(b"") * 50_000
    turns = []

    async def stream():
        yield body

    async def count_turns():
        while True:
            await asyncio.sleep(0.005)
            turns.append(1)

    async def read():
        request = types.SimpleNamespace(
            headers={"content-encoding": "gzip"}, stream=stream
        )
        task = asyncio.create_task(count_turns())
        found = await Limits().read_body(request)
        task.cancel()
        return found

    assert asyncio.run(read()) == b""
    assert len(turns) > 2
