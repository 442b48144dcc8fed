"""Reads what a test or a script logged, by its level.

If something must not be warned of, ask for no warning at all, because a test
for words of the warning would also pass after the words are changed.

For example:

    assert not logged_warnings(caplog)
    assert not printed_warnings(done)
"""

import logging
import re

import pytest

from tests.support.fresh_process import ProcessResult

# terminal/logs.py begins a message with the time and the level.
_MESSAGE = re.compile(r"\d\d:\d\d:\d\d ([DIWEC]) ")


def logged_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Returns the warnings and errors that a test logged."""
    return [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.levelno >= logging.WARNING
    ]


def printed_warnings(done: ProcessResult) -> list[str]:
    """Returns the first lines of the warnings and errors in a script's log."""
    return printed_messages(done, levels="WEC")


def printed_messages(done: ProcessResult, levels: str = "DIWEC") -> list[str]:
    """Returns the first lines of the messages of these levels in a log."""
    return [
        line
        for line in done.stderr.splitlines()
        if (match := _MESSAGE.match(line)) and match[1] in levels
    ]
