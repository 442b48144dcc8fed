"""Waits for what a test can see, never for a time that may be too short.

Finds and awaits processes by their ids too, whoever started them.

For example:

    wait_until((folder / "done").exists)
    wait_for_end(list_children(script.pid))
"""

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

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


@contextlib.contextmanager
def killed_late(process: subprocess.Popen[Any]) -> Iterator[None]:
    """Kills a process if a `with` block takes more than TIMEOUT seconds.

    What reads the output of the process then reads its end, so that a test
    fails which would wait forever.
    """
    timer = threading.Timer(TIMEOUT, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def list_children(pid: int) -> list[int]:
    """Returns the ids of the processes that each thread of a process started.

    Processes of the main thread come first.
    """
    return [
        int(child)
        for task in sorted(Path(f"/proc/{pid}/task").iterdir())
        for child in (task / "children").read_text().split()
    ]


def is_running(pid: int) -> bool:
    """Returns whether a process exists and has not ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(pids: Iterable[int]) -> None:
    """Waits until none of these processes is running."""
    wait_until(lambda: not any(map(is_running, pids)))
