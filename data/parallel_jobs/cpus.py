"""Counts the CPUs that this process may use."""

import os


def count_cpus() -> int:
    """Returns the number of CPUs that this process may use.

    A container or a batch system may allow a process fewer CPUs than the
    machine has. macOS only shows the CPUs of the machine.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
