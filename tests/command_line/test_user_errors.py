"""Errors of the user, and their words."""

import pytest

from command_line.user_errors import describe_error, is_user_error, print_error
from options.fields import PathType
from options.path_flags import PathFlag


@pytest.mark.parametrize(
    "error",
    [
        ValueError("a"),
        OSError("a"),
        MemoryError(),
        ModuleNotFoundError("a"),
    ],
)
def test_errors_of_values_files_memory_and_packages_are_user_errors(error):
    assert is_user_error(error)


@pytest.mark.parametrize("error", [TypeError("a"), KeyError("a")])
def test_any_other_error_is_a_bug(error):
    assert not is_user_error(error)


def test_an_error_of_a_file_names_its_flag():
    error = FileNotFoundError(2, "No such file or directory", "in.txt")
    flag = PathFlag("input_file", "in.txt", PathType.INPUT_FILE)
    assert describe_error(error, [flag]) == (
        "--input_file=in.txt: No such file or directory"
    )


def test_a_missing_package_names_the_command_that_installs_it():
    error = ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
    message = describe_error(error, [])
    assert message.startswith("No module named 'pyarrow': pip install")


def test_a_memory_error_is_described_as_not_enough_memory():
    message = describe_error(MemoryError("7 GiB"), [])
    assert message.startswith("7 GiB. There is not enough memory.")


def test_the_error_about_a_lost_worker_asks_to_start_all_workers():
    """TensorFlow's message is a stack of calls."""
    lost = type("UnavailableError", (Exception,), {})
    message = describe_error(lost("Collective ops is aborted by: .."), [])
    assert message.startswith("another worker was lost: start all of them")


def test_another_error_of_a_server_keeps_its_message():
    lost = type("UnavailableError", (Exception,), {})
    assert describe_error(lost("gs://a is busy"), []) == "gs://a is busy"


def test_an_error_is_printed_in_one_line_with_its_status(capsys):
    assert print_error(ValueError("a\n  b"), 130) == 130
    assert capsys.readouterr().err == "error: a b\n"
