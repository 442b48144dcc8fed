"""The log of requests."""

import json
import resource

import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

from starlette.requests import Request

from serving.server.monitoring import Monitoring
from tests import script_runner

REQUEST = Request({"type": "http", "method": "GET", "path": "/", "headers": []})


def log_requests(path, num_requests, max_bytes):
    """Logs requests in this process, which may write files of that size."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    seen = Monitoring(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, most))
    for _ in range(num_requests):
        with seen.observe(REQUEST) as one:
            one.status = 200


def test_an_error_that_quotes_a_text_is_not_logged(tmp_path):
    log = tmp_path / "requests.jsonl"
    monitoring = Monitoring(str(log))
    for status, error in [(400, "JSON Value: my secret"), (504, "no answer")]:
        with monitoring.observe(REQUEST) as seen:
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
        Monitoring(str(path))
    assert path.read_text() == text
