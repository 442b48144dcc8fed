"""Work shared out among processes."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from data.io import workers
from tests import golden


def square(number):
    if number < 0:
        raise ValueError(f"{number} is negative")
    return os.getpid(), number * number


@pytest.mark.parametrize("num_processes", [0, 1, 2])
def test_order_and_processes(num_processes):
    tasks = [(f"number {i}", (i,)) for i in range(1500)]
    found = list(workers.run(square, tasks, num_processes))
    assert [value for _, value in found] == [i * i for i in range(1500)]
    is_here = {pid == os.getpid() for pid, _ in found}
    if num_processes:
        assert is_here == {num_processes == 1}


class CannotComeBack(Exception):
    def __init__(self, one, two):
        super().__init__(one)


def fail(kind):
    if kind == "pickle":
        raise CannotComeBack(1, 2)
    return threading.Lock()


def test_errors_come_through():
    with pytest.raises(ValueError, match="-1 is negative"):
        list(workers.run(square, [("1", (1,)), ("-1", (-1,))], 2))
    for kind, message in (("pickle", "CannotComeBack: 1"), ("lock", "pickle")):
        with pytest.raises((RuntimeError, TypeError), match=message):
            list(workers.run(fail, [("it", (kind,))], 2))


def work(kind):
    if kind == "wait":
        time.sleep(600)
    return os.getpid(), bytes(1 << 25 if kind == "long result" else 0)


def killed(name):
    return pytest.raises(
        ChildProcessError,
        match=f"{name}.*SIGKILL",
    )


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_process_killed_before_it_reads_a_task(is_stopped):
    taken = []

    def tasks():
        yield "shard 0", ("",)
        for number in range(1, 5):
            yield f"shard {number}", ("",)
        os.kill(taken[0], signal.SIGSTOP if is_stopped else signal.SIGKILL)
        if is_stopped:
            timer = threading.Timer(0.3, os.kill, (taken[0], signal.SIGKILL))
            timer.start()
        yield from ((f"shard {number}", ("wait",)) for number in (5, 6))

    with killed("shard [1-6]"):
        for pid, _ in workers.run(work, tasks(), 2):
            taken.append(pid)


PARENT = """
import os, sys, time
sys.path.insert(0, {root!r})
from data.io import workers
from tests.data.io import test_workers

if __name__ == "__main__":
    tasks = [("a", ()), ("b", ())]
    list(workers.run(test_workers.say_pid, tasks, 2))
"""


def say_pid():
    print(os.getpid(), flush=True)
    time.sleep(600)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="no /proc")
def test_no_process_outlives_a_killed_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(root=str(golden.ROOT)))
    with subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        pids = [int(process.stdout.readline()) for _ in range(2)]
        assert all(map(is_running, pids))
        process.kill()
    end = time.monotonic() + 120
    while any(map(is_running, pids)):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert os.listdir(tmp_path) == ["parent.py"]


def fail_late(folder, number):
    """Task 0 waits for the end, and task 3 of the first five is killed."""
    if number == 0:
        time.sleep(60)
    if number == 3:
        (folder / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_death_is_noticed_while_the_oldest_task_works(tmp_path):
    """Also if the caller was busy meanwhile; the task that died is named."""

    def tasks():
        for number in range(5):
            yield f"task {number}", (tmp_path, number)
        while not (tmp_path / "killed").exists():
            time.sleep(0.01)
        time.sleep(0.5)
        yield "task 5", (tmp_path, 5)

    started = time.monotonic()
    with killed("task 3"):
        list(workers.run(fail_late, tasks(), 2))
    assert time.monotonic() - started < 50
