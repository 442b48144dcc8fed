"""Names the engines that are installed, and runs programs without others."""

import subprocess
import sys

import pytest

from command_line.installation import install_command
from serving import engines
from tests.support.exports import INSTALLED
from tests.support.golden import ROOT


def needs(name):
    package = engines.RUNTIMES[name].package
    reason = f"needs {install_command(package)}"
    return pytest.mark.skipif(name not in INSTALLED, reason=reason)


ENGINES = [pytest.param(name, marks=needs(name)) for name in engines.RUNTIMES]
BLOCK = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        refused = "tensorflow keras google.protobuf safetensors scipy sklearn"
        assert not name.startswith(tuple(refused.split())), name

sys.meta_path.insert(0, Refuse())
"""
PREDICT = 'import runpy\nrunpy.run_path("predict.py", run_name="__main__")'


def run(script, *arguments, text=""):
    """Runs a program that has only what requirements/predict.txt lists."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCK + script, *arguments],
        input=text,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
