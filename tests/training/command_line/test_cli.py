"""How a command ends."""

import os
import subprocess
import sys

import pytest

from tests.golden import ROOT

SCRIPT = """
import dataclasses, os, signal
from training.command_line import cli

@dataclasses.dataclass
class Config:
    pass

def main(config):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt as error:
        raise {error}("Tried to convert 'shape' to a tensor") from error

cli.run(main, Config)
"""


@pytest.mark.parametrize("error", ["TypeError", "ValueError"])
def test_ctrl_c_that_a_library_replaced_stays_ctrl_c(tmp_path, error):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(error=error))
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")
