"""Waits for what a test can see, never for a time that may be too short.

For example:

    wait_until((folder / "done").exists)
"""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Seconds after which a test that still waits has failed.
TIMEOUT = 300.0


def wait_until(
    find: Callable[[], T | None], describe: Callable[[], str] = lambda: ""
) -> T:
    """Returns the first true result of a function, which is called repeatedly.

    Args:
        find: function without arguments. May raise an error, if what the test
            waits for can no longer come.
        describe: function that returns the message of the failure, after
            TIMEOUT seconds.
    """
    end = time.monotonic() + TIMEOUT
    while not (result := find()):
        assert time.monotonic() < end, describe()
        time.sleep(0.02)
    return result
