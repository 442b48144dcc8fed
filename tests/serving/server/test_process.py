"""The start of serve.py, and its log of requests."""

import asyncio
import json
import resource
import signal
import socket

import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

from starlette.requests import Request

from serving.server import app, monitoring, process
from serving.server.limits import Limits
from tests import script_runner


@pytest.fixture
def handlers():
    """Puts the signals' handlers back."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_before_the_first_request_is_not_lost(handlers, monkeypatch):
    class Early(process._Uvicorn):
        async def serve(self, sockets):
            signal.raise_signal(signal.SIGTERM)
            await super().serve(sockets)

    monkeypatch.setattr(process, "_Uvicorn", Early)
    server = app.Server({}, Limits(), monitoring.Monitoring())
    # Else it would serve for ever.
    process.serve(server, process.listen("127.0.0.1", 0))


def test_an_answer_does_not_wait_for_the_client_to_confirm_its_head():
    async def accepted():
        """Returns whether Nagle's algorithm is off in a connection."""
        found = asyncio.get_running_loop().create_future()

        def connected(_, writer):
            own = writer.get_extra_info("socket")
            found.set_result(
                own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            )
            writer.close()

        listener = process.listen("127.0.0.1", 0)
        async with await asyncio.start_server(connected, sock=listener):
            with socket.create_connection(listener.getsockname()):
                return await found

    assert asyncio.run(accepted())


def test_wrong_flags_are_said_before_models_load(tmp_path):
    # No model: loading it would be another error.
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "saved_model.pb").write_bytes(b"none")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        changes = {
            f"--port={port}: Address already in use": {"port": port},
            "cannot listen on --host=no.such.host.invalid --port=0": {
                "host": "no.such.host.invalid",
                "port": 0,
            },
            "--model=m cannot be served": {"port": 0},
            # It would be another one, modulo 65536.
            "flag --port=99999": {"port": 99999},
            "--request_log=m/log is inside --model=m": {"request_log": "m/log"},
            "--model=name= is empty": {"model": "name="},
            "--model= is empty": {"model": ""},
            "--token_file=m/saved_model.pb must contain one word of 8": {
                "token_file": "m/saved_model.pb"
            },
        }
        before = script_runner.snapshot(tmp_path)
        done = script_runner.run_all(
            [
                ("serve.py", tmp_path, {"model": "m"} | flags)
                for flags in changes.values()
            ]
        )
        assert script_runner.snapshot(tmp_path) == before
    for message, one in zip(changes, done, strict=True):
        assert message in one.error


def test_of_two_servers_with_one_port_the_second_ends(handlers):
    first = process.listen("127.0.0.1", 0)
    port = first.getsockname()[1]
    server = app.Server({}, Limits(), monitoring.Monitoring())
    # Both load their models at the same time.
    with first, process.listen("127.0.0.1", port) as second:
        first.listen()
        with pytest.raises(OSError, match=f"cannot listen on .*--port={port}"):
            process.serve(server, second)


REQUEST = Request({"type": "http", "method": "GET", "path": "/", "headers": []})


def log_requests(path, num_requests, max_bytes):
    """Logs requests in this process, which may write files of that size."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    seen = monitoring.Monitoring(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, most))
    for _ in range(num_requests):
        with seen.observe(REQUEST) as one:
            one.status = 200


def test_an_error_that_quotes_a_text_is_not_logged(tmp_path):
    log = tmp_path / "requests.jsonl"
    requests = monitoring.Monitoring(str(log))
    for status, error in [(400, "JSON Value: my secret"), (504, "no answer")]:
        with requests.observe(REQUEST) as seen:
            seen.status, seen.error = status, error
    bad, late = map(json.loads, log.read_text().splitlines())
    assert bad["status"] == 400 and "secret" not in str(bad)
    assert late["error"] == "no answer"


def test_a_full_disk_ends_the_log_and_nothing_else(tmp_path):
    log = tmp_path / "requests.jsonl"
    for max_bytes, num_lines in [(500, 4), (10_000, 10)]:
        process = script_runner.PROCESSES.Process(
            target=log_requests, args=(str(log), 5, max_bytes)
        )
        process.start()
        process.join()
        assert process.exitcode == 0
        lines = log.read_bytes().split(b"\n")
        assert len(lines) == num_lines
        for line in lines[:3] + lines[4:-1]:
            assert json.loads(line)["status"] == 200
    # What the full disk left of a line stands alone.
    assert lines[3].startswith(b'{"time"') and not lines[3].endswith(b"}")


@pytest.mark.parametrize("text", ["my notes\n", "[1]\n", "[" * 50_000])
def test_a_file_that_is_no_log_is_left_alone(tmp_path, text):
    path = tmp_path / "notes"
    path.write_text(text)
    with pytest.raises(ValueError, match="notes is not a request log"):
        monitoring.Monitoring(str(path))
    assert path.read_text() == text
