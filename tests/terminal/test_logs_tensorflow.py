"""What TensorFlow prints, and what a script lets through.

tests/command_line/test_cli.py runs a script in a user's environment.
"""

from tests.support import fresh_process

# Stands for the native code of TensorFlow, which prints while it loads.
PACKAGE = """\
import os
os.write(2, b"a line of native code\\n")
print("a line of Python")
"""
SILENCED = """\
import os, sys
from terminal.logs import silence_tensorflow
silence_tensorflow()
import tensorflow
os.write(2, b"after\\n")
"""


def run_with_package(tmp_path, code, **environment):
    """Runs code with a package `tensorflow` that prints as it is imported."""
    (tmp_path / "tensorflow.py").write_text(PACKAGE)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"
    return fresh_process.run("-c", code, **environment).check()


def test_stderr_of_native_code_is_silent_during_an_import(tmp_path):
    assert run_with_package(tmp_path, SILENCED).stderr == "after\n"


def test_an_import_that_is_silenced_may_write_to_stdout(tmp_path):
    assert run_with_package(tmp_path, SILENCED).stdout == "a line of Python\n"


def test_the_error_of_an_import_is_let_through(tmp_path):
    code = """\
from terminal.logs import silence_tensorflow
silence_tensorflow()
try:
    import tensorflow.missing
except ImportError as error:
    print(error.name)
"""
    done = run_with_package(tmp_path, code)
    assert done.stdout == "a line of Python\ntensorflow.missing\n"


LEVELS = """\
import logging, os
from terminal.logs import silence_tensorflow
silence_tensorflow()
print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
print(logging.getLogger("tensorflow").isEnabledFor(logging.WARNING))
"""


def test_warnings_of_tensorflow_are_not_logged():
    done = fresh_process.run(
        "-c", LEVELS, without=["TF_CPP_MIN_LOG_LEVEL"]
    ).check()
    assert done.stdout == "3\nFalse\n"


def test_a_log_level_that_the_user_set_stays():
    done = fresh_process.run("-c", LEVELS, TF_CPP_MIN_LOG_LEVEL="0").check()
    assert done.stdout == "0\nFalse\n"
