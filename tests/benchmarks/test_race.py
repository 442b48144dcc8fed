"""A benchmark ends with its contestants."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import ROOT


def children_of(pid):
    """Returns the ids of the processes that a process has started."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return {int(child) for child in path.read_text().split()}


@pytest.mark.slow
def test_an_interrupted_benchmark_ends_with_its_contestants():
    command = [sys.executable, "benchmarks/model_benchmark.py"]
    config = "--bert_config_file=examples/samples/bert_config.json"
    with subprocess.Popen(
        [*command, "--rows=inference_1x16_float32", config],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            # One contestant waits for its turn now, and another one starts.
            for line in process.stderr:
                if line == "inference_1x16_float32\n":
                    break
            children = children_of(process.pid)
            assert children
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in rest
    # The process that frees shared memory ends a moment after all others.
    assert not [child for child in children if is_contestant(child)]


def is_contestant(pid):
    path = Path(f"/proc/{pid}/cmdline")
    return path.exists() and b"spawn_main" in path.read_bytes()
