"""Finds and awaits processes by their ids, whoever started them.

For example:

    wait_for_end(list_children(script.pid))
"""

from collections.abc import Iterable
from pathlib import Path

from tests.support.waiting import wait_until


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
