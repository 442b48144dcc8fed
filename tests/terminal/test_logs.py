"""Whose records a script logs.

tests/command_line/test_cli.py reads the lines that a script prints.
"""

import logging

import pytest

from terminal import logs


def record_of(path, level):
    """Returns a record of the log, as the file `path` creates it."""
    return logging.LogRecord("absl", level, str(path), 1, "text", None, None)


@pytest.mark.parametrize(
    "path", ["run_squad.py", "data/text/tokenization.py", "tools/export.py"]
)
def test_an_info_record_of_the_project_is_logged(path):
    record = record_of(logs.PROJECT / path, logging.INFO)
    assert logs.is_ours_or_urgent(record)


@pytest.mark.parametrize(
    "path", [".venv/lib/keras/models.py", "../data/text/tokenization.py"]
)
def test_an_info_record_of_another_library_is_not_logged(path):
    record = record_of(logs.PROJECT / path, logging.INFO)
    assert not logs.is_ours_or_urgent(record)


def test_a_warning_of_another_library_is_logged():
    record = record_of("/lib/keras/models.py", logging.WARNING)
    assert logs.is_ours_or_urgent(record)
