"""The network gives the recorded outputs on Keras's other backends."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from tests.golden import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_the_recorded_outputs(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    # Keras has one backend in a process.
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-m", "backends"),
            *("-p", "no:cacheprovider", "tests/modeling"),
        ],
        cwd=ROOT,
        env=os.environ | {"KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 5
