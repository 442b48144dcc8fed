"""Runs a script of the project as a child process."""

import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any


def run(command: Sequence[str | os.PathLike[str]], **options: Any) -> int:
    """Runs a command to its end.

    A signal to stop is passed to the command, which saves and ends while this
    process waits. Only SIGKILL leaves the command running.

    Args:
        command: the program and its arguments.
        **options: those of subprocess.Popen.

    Returns:
        its exit status.

    Raises:
        SystemExit: this process was asked to stop; the status is 75.
    """
    stopped: list[int] = []
    processes: list[subprocess.Popen] = []

    def stop(number: int, _: Any) -> None:
        stopped.append(number)
        for process in processes:
            process.send_signal(number)

    before = {
        number: signal.signal(number, stop)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        # nohup makes a process ignore the closing of a terminal.
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        # In its own session, so that it gets Ctrl-C once.
        process = subprocess.Popen(command, start_new_session=True, **options)
        processes.append(process)
        if stopped:
            process.send_signal(stopped[0])
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopped:
        raise SystemExit(os.EX_TEMPFAIL)
    return status
