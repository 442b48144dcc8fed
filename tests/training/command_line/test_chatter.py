"""Scripts print what concerns the user, in one format."""

import re
import subprocess
import sys
import textwrap

import pytest

from tests import script_runner

# A table of figures follows its line, and is set in.
LINE = re.compile(r"\d\d:\d\d:\d\d [DIWE] |  \S")


@pytest.fixture
def flags(model_flags, tmp_path):
    return model_flags | {
        "task_name": "mrpc",
        "data_dir": script_runner.SAMPLES / "glue",
        "output_dir": tmp_path / "run",
        "export_dir": tmp_path / "export",
        "max_seq_length": 32,
        "do_eval": True,
    }


@pytest.mark.slow
def test_a_script_prints_its_own_lines_alone(flags):
    # In a new process, as it is TensorFlow's start that prints most; and with
    # the environment that a user has, not that of the tests.
    variables = dict(script_runner.os.environ)
    del variables["TF_CPP_MIN_LOG_LEVEL"]
    done = subprocess.run(
        [
            *(sys.executable, script_runner.ROOT / "run_classifier.py"),
            *(f"--{name}={value}" for name, value in flags.items()),
        ],
        capture_output=True,
        text=True,
        env=variables,
    )
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


def test_verbose_lists_variables_and_examples(flags, tmp_path):
    del flags["export_dir"]
    done = script_runner.run(
        "run_classifier.py", tmp_path, **flags, verbose=True
    ).check()
    assert done.stderr.count("*INIT_FROM_CKPT*") > 10
    assert done.stderr.count("*** Example ***") == 5


def test_asking_whether_tensorflow_is_installed_keeps_its_start_silent():
    variables = dict(script_runner.os.environ)
    variables.pop("TF_CPP_MIN_LOG_LEVEL", None)
    source = """
        import importlib.util
        from training.command_line import chatter
        chatter.silence_tensorflow()
        assert importlib.util.find_spec("tensorflow")
        import tensorflow
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        capture_output=True,
        text=True,
        env=variables,
        cwd=script_runner.ROOT,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
