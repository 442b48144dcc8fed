"""Runs a script of the project as a child process."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

# Of Linux's prctl: the signal that a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1


def run(command: Sequence[str | os.PathLike[str]], **options: Any) -> int:
    """Runs a command to its end.

    A signal to stop is passed to the command, which saves and ends while this
    process waits. If this process is killed by SIGKILL, the command gets
    SIGTERM on Linux; elsewhere it keeps running.

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
        process = subprocess.Popen(
            command,
            start_new_session=True,
            preexec_fn=_end_with_parent(),
            **options,
        )
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


def _end_with_parent() -> Callable[[], object] | None:
    """Returns what a child does first to get SIGTERM when its parent ends."""
    if sys.platform != "linux":
        return None
    # Loaded here: between its fork and its program a child can do little.
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            # It has ended already.
            os.kill(os.getpid(), signal.SIGTERM)

    return ask
