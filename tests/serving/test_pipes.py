"""predict.py in a pipe, started as a user does."""

import json
import os
import subprocess
import sys

import pytest

from tests.golden import ROOT

ENVIRONMENT = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"}


def start_predict(model, *flags, stderr):
    """Starts predict.py on a model, with pipes as its input and output."""
    return subprocess.Popen(
        [sys.executable, ROOT / "predict.py", f"--model={model}", *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=ENVIRONMENT,
    )


@pytest.mark.slow
def test_a_pipe_is_answered_line_by_line(export_folder):
    with start_predict(
        export_folder / "features", "--keep_going", stderr=subprocess.DEVNULL
    ) as process:
        for request, field in [
            ({"text": "A harbor."}, "pooled"),
            ({"text": 7}, "error"),
            ({"text": "the sea " * 99}, "pooled"),
        ]:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            # Before the next one, and before the pipe ends.
            assert field in json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0


@pytest.mark.slow
def test_a_broken_pipe_ends_quietly(export_folder):
    request = json.dumps({"text": "The harbor."}).encode() + b"\n"
    with start_predict(
        export_folder / "features", "--batch_size=1", stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(request)
        process.stdin.flush()
        assert b"pooled" in process.stdout.readline()
        # The reader has enough, as `head -1` has.
        process.stdout.close()
        process.stdin.write(request)
        process.stdin.close()
        errors = process.stderr.read()
        assert process.wait() in (0, 141)
    assert b"error" not in errors.lower().split(b"ready for the task embed")[1]
    assert b"Traceback" not in errors


@pytest.mark.slow
def test_saved_model_cli(export_folder):
    # It loads neither this project nor TensorFlow Text.
    done = subprocess.run(
        [
            os.path.join(os.path.dirname(sys.executable), "saved_model_cli"),
            "run",
            f"--dir={export_folder / 'squad'}",
            "--tag_set=serve",
            "--signature_def=answer",
            '--input_exprs=question=["what"];context=["A harbor."]',
        ],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Result for output key answer:" in done.stdout
