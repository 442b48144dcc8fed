"""predict.py in a pipe, started as a user does."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT
from tests.support.waiting import TIMEOUT, killed_late

pytestmark = pytest.mark.slow
REQUEST = {"text": "A harbor."}
# Status of a command whose output nobody reads: 128, and the number of SIGPIPE.
CLOSED_PIPE_STATUS = 141


@pytest.fixture
def process(saved_models_folder):
    """predict.py, which reads requests from a pipe and answers in another."""
    model = f"--model={saved_models_folder / 'features'}"
    with (
        subprocess.Popen(
            [sys.executable, ROOT / "predict.py", model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"},
        ) as process,
        killed_late(process),
    ):
        yield process


def send(process, request):
    """Writes a request to the pipe, which stays open."""
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()


def test_a_line_is_answered_before_the_next_one_comes(process):
    for request, field in [
        (REQUEST, "pooled"),
        ({"text": 7}, "error"),
        ({"text": "the sea " * 99}, "pooled"),
    ]:
        send(process, request)
        assert field in json.loads(process.stdout.readline())


def test_predict_ends_without_an_error_when_nobody_reads_its_answers(process):
    """As `head -1` ends after a line."""
    send(process, REQUEST)
    assert process.stdout.readline()
    process.stdout.close()
    send(process, REQUEST)
    process.stdin.close()
    errors = process.stderr.read()
    assert process.wait(TIMEOUT) == CLOSED_PIPE_STATUS
    assert b"Traceback" not in errors
    assert b"error: " not in errors
