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

# terminal/logs.py begins a line with the time and with the level.
_WARNING = re.compile(r"\d\d:\d\d:\d\d [WEC] ")


def logged_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Returns the warnings and errors that a test logged."""
    return [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.levelno >= logging.WARNING
    ]


def printed_warnings(done: ProcessResult) -> list[str]:
    """Returns the first lines of the warnings that a script printed."""
    return [line for line in done.stderr.splitlines() if _WARNING.match(line)]
