"""predict.py in a pipe, started as a user does."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT
from tests.support.waiting import TIMEOUT, killed_late


@pytest.mark.slow
def test_a_pipe_is_answered_line_by_line_until_its_reader_ends(
    saved_models_folder,
):
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

        def send(request):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()

        for request, field in [
            ({"text": "A harbor."}, "pooled"),
            ({"text": 7}, "error"),
            ({"text": "the sea " * 99}, "pooled"),
        ]:
            send(request)
            # Before the next one, and before the pipe ends.
            assert field in json.loads(process.stdout.readline())
        # The reader has enough, as `head -3` has.
        process.stdout.close()
        send({"text": "A harbor."})
        process.stdin.close()
        errors = process.stderr.read()
        assert process.wait(TIMEOUT) == 141
    assert b"Traceback" not in errors
    assert b"error: " not in errors
