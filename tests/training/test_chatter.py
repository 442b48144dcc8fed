"""Scripts print what concerns the user, in one format."""

import re
import subprocess
import sys

import pytest

from tests import script_runner

LINE = re.compile(r"\d\d:\d\d:\d\d [DIWE] ")


@pytest.fixture(scope="module")
def evaluation(model_flags, tmp_path_factory):
    """Evaluates a model in a new process; takes more flags."""
    folder = tmp_path_factory.mktemp("chatter")

    def run(name, *arguments):
        flags = model_flags | {
            "task_name": "mrpc",
            "data_dir": script_runner.SAMPLES / "glue",
            "output_dir": folder / name,
            "export_dir": folder / f"{name}_export",
            "max_seq_length": 32,
        }
        return subprocess.run(
            [
                sys.executable,
                script_runner.ROOT / "run_classifier.py",
                *(f"--{name}={value}" for name, value in flags.items()),
                "--do_eval",
                *arguments,
            ],
            capture_output=True,
            text=True,
            # As a user has it, not as the tests do.
            env={
                name: value
                for name, value in script_runner.os.environ.items()
                if name != "TF_CPP_MIN_LOG_LEVEL"
            },
        )

    return run


def test_a_script_prints_its_own_lines_alone(evaluation):
    done = evaluation("quiet")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) > 5
    assert all(LINE.match(line) for line in lines), done.stderr
    # One line says what was loaded, none lists it.
    loaded = [line for line in lines if "variables loaded" in line]
    assert len(loaded) == 1
    assert "2 new: output_weights, output_bias" in loaded[0]
    assert "INIT_FROM_CKPT" not in done.stderr
    assert "*** Example ***" not in done.stderr


def test_verbose_lists_variables_and_examples(evaluation):
    done = evaluation("verbose", "--verbose")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("*INIT_FROM_CKPT*") > 10
    assert done.stderr.count("*** Example ***") == 5
