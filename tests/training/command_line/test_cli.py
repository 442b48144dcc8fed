"""The end of a command, and the lines that it prints."""

import re
import subprocess
import sys

import pytest

from tests import script_runner
from tests.golden import ROOT

INTERRUPTED = """
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
ASKING = """
import importlib.util
from training.command_line import chatter
chatter.silence_tensorflow()
assert importlib.util.find_spec("tensorflow")
import tensorflow
"""
# A table of figures follows its line, and is set in.
LINE = re.compile(r"\d\d:\d\d:\d\d [DIWE] |  \S")


def start(*arguments):
    """Runs a new process, as it is TensorFlow's start that prints most.

    Its environment is that of a user, not that of the tests.
    """
    variables = dict(script_runner.os.environ)
    variables.pop("TF_CPP_MIN_LOG_LEVEL", None)
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=variables,
        cwd=ROOT,
    )


@pytest.fixture
def flags(model_flags, tmp_path):
    return model_flags | {
        "task_name": "mrpc",
        "data_dir": script_runner.SAMPLES / "glue",
        "output_dir": tmp_path / "run",
        "max_seq_length": 32,
        "do_train": True,
        "num_train_epochs": 0.3,
    }


@pytest.mark.parametrize("error", ["TypeError", "ValueError"])
def test_ctrl_c_that_a_library_replaced_stays_ctrl_c(tmp_path, error):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(error=error))
    done = script_runner.run(script, tmp_path)
    assert done.status == 130 and "Traceback" not in done.stderr
    assert done.stderr.endswith("error: interrupted\n")


@pytest.mark.slow
def test_a_script_prints_its_own_lines_alone(flags, tmp_path):
    flags["export_dir"] = tmp_path / "export"
    done = start(
        ROOT / "run_classifier.py",
        *(f"--{name}={value}" for name, value in flags.items()),
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert all(LINE.match(line) for line in lines), done.stderr
    # One line says what was loaded, none lists it.
    (loaded,) = (line for line in lines if "variables loaded" in line)
    missing = "2 missing, which keep their initial values: "
    assert missing + "output_weights, output_bias" in loaded
    assert "INIT_FROM_CKPT" not in done.stderr
    assert "*** Example ***" not in done.stderr


def test_verbose_lists_variables_and_examples(flags, tmp_path):
    done = script_runner.run(
        "run_classifier.py", tmp_path, **flags, verbose=True
    ).check()
    assert done.stderr.count("*INIT_FROM_CKPT*") > 10
    assert done.stderr.count("*** Example ***") == 5


@pytest.mark.parametrize("fails", [False, True])
def test_the_import_of_tensorflow_is_silent(tmp_path, fails):
    (tmp_path / "tensorflow.py").write_text(
        f"import os; os.write(2, b'noi' b'se'); assert not {fails}"
    )
    # To ask whether it is installed is not its import.
    done = start(
        "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + ASKING
    )
    assert "noise" not in done.stderr
    assert ("AssertionError" in done.stderr) == fails
