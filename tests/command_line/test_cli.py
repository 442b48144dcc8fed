"""The end of a command, and the lines that it prints."""

import re

import pytest

from tests.support import fresh_process, script_runner
from tests.support.paths import ROOT, SAMPLES

INTERRUPTED = """
import os, signal
from command_line import cli
from options.config import Config

def main(config):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt as error:
        raise {error}("Tried to convert 'shape' to a tensor") from error

cli.Command(main, Config)()
"""
# A table of numbers follows its line, and is set in.
LINE = re.compile(r"\d\d:\d\d:\d\d [DIWE] |  \S")
# What only --verbose shows, of each loaded variable and of the first examples.
VARIABLE = "*INIT_FROM_CKPT*"
EXAMPLE = "*** Example ***"


@pytest.fixture
def flags(model_flags, tmp_path):
    """Flags of a short training of a classifier."""
    return model_flags | {
        "task_name": "mrpc",
        "data_dir": SAMPLES / "glue",
        "output_dir": tmp_path / "run",
        "max_seq_length": 32,
        "do_train": True,
        "num_train_epochs": 0.3,
    }


@pytest.mark.parametrize("error", ["TypeError", "ValueError"])
def test_any_error_after_ctrl_c_is_reported_as_interrupted(tmp_path, error):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(error=error))
    done = script_runner.run(script, tmp_path)
    assert done.status == 130
    assert "Traceback" not in done.stderr
    assert done.stderr.endswith("error: interrupted\n")


ENDING = """
from command_line import cli
from options.config import Config
from terminal import signals

def main(config):
    {ending}

cli.Command(main, Config)()
"""


def run_to(tmp_path, ending, *arguments):
    """Runs a script whose main function ends with this statement."""
    script = tmp_path / "script.py"
    script.write_text(ENDING.format(ending=ending))
    return script_runner.run(script, tmp_path, *arguments)


@pytest.mark.parametrize(("ending", "status"), [("pass", 0), ("return 3", 3)])
def test_the_main_function_returns_the_exit_status(tmp_path, ending, status):
    assert run_to(tmp_path, ending).status == status


def test_an_error_of_the_user_is_one_line(tmp_path):
    done = run_to(tmp_path, "raise ValueError('a.csv is empty')")
    assert done.error == "error: a.csv is empty"


def test_debug_shows_where_an_error_of_the_user_was_raised(tmp_path):
    done = run_to(tmp_path, "raise ValueError('a.csv is empty')", "--debug")
    assert done.status == 1
    assert "Traceback" in done.stderr


def test_a_bug_prints_its_traceback(tmp_path):
    done = run_to(tmp_path, "raise TypeError('a bug')")
    assert done.status == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("TypeError: a bug\n")


def test_a_signal_that_the_work_handled_ends_with_its_status(tmp_path):
    done = run_to(tmp_path, "raise signals.SignalInterrupt(15)")
    assert done.status == 143
    assert done.stderr.endswith("error: stopped by SIGTERM\n")
    assert "Traceback" not in done.stderr


def test_a_reader_that_closes_the_pipe_causes_no_error_message(tmp_path):
    done = run_to(tmp_path, "raise BrokenPipeError")
    assert done.status == 141
    assert not re.search("^error: ", done.stderr, re.MULTILINE)
    assert "Traceback" not in done.stderr


def test_an_argument_without_a_name_is_an_error(tmp_path):
    done = run_to(tmp_path, "pass", "a.csv")
    assert done.error.endswith("Received: ['a.csv']")


OUT_OF_MEMORY = """
from command_line import cli
from options.config import Config

def main(config):
    raise MemoryError({text!r})

cli.Command(main, Config)()
"""


@pytest.mark.parametrize("text", ["", "Unable to allocate 7 GiB"])
def test_a_memory_error_of_a_script_becomes_one_line(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(OUT_OF_MEMORY.format(text=text))
    done = script_runner.run(script, tmp_path)
    line = done.stderr.splitlines()[-1]
    assert done.status == 1
    assert line.startswith(f"error: {text}")
    assert "not enough memory" in line


@pytest.mark.slow
def test_a_script_prints_its_own_lines_alone(flags, tmp_path):
    flags["export_dir"] = tmp_path / "export"
    # A new process, as it is TensorFlow's start that prints most, and a user's
    # environment.
    arguments = [f"--{name}={value}" for name, value in flags.items()]
    script = ROOT / "run_classifier.py"
    done = fresh_process.run(
        script, *arguments, without=["TF_CPP_MIN_LOG_LEVEL"]
    ).check()
    lines = done.stderr.splitlines()
    assert all(LINE.match(line) for line in lines), done.stderr
    # One line says what was loaded, none lists it.
    (loaded,) = (line for line in lines if "variables loaded" in line)
    assert "2 start at random values: output_weights, output_bias" in loaded
    assert VARIABLE not in done.stderr
    assert EXAMPLE not in done.stderr


def test_verbose_lists_variables_and_examples(flags, tmp_path):
    done = script_runner.run(
        "run_classifier.py", tmp_path, **flags, verbose=True
    ).check()
    assert done.stderr.count(VARIABLE) > 10
    assert done.stderr.count(EXAMPLE) == 5
