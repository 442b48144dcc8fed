"""Work shared out among processes."""

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from data.io import workers
from tests import golden


def squares(items):
    for item in items:
        if item == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if item < 0:
            raise ValueError(f"{item} is negative")
        yield from [(os.getpid(), item * item)] * (item % 3)


@pytest.mark.parametrize("num_processes", [0, 1, 2])
def test_order_and_processes(num_processes):
    found = list(workers.generate(squares, range(1500), num_processes))
    values = [value for _, value in found]
    assert values == [i * i for i in range(1500) for _ in range(i % 3)]
    is_here = {pid == os.getpid() for pid, _ in found}
    if num_processes:
        assert is_here == {num_processes == 1}


def test_only_so_much_is_under_way():
    taken = 0

    def count():
        nonlocal taken
        for i in itertools.count():
            taken = i
            yield i

    results = workers.generate(squares, count(), 2)
    for _ in range(2000):
        next(results)
    results.close()
    assert taken < 2000 + 256 * 8


def slow_first(folder, number):
    """Notes a task; the first one ends after the four that follow."""
    (folder / str(number)).touch()
    end = time.monotonic() + 120
    while number == 0 and not (folder / "4").exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_slow_task_does_not_let_others_pile_up(tmp_path):
    tasks = ((str(i), (tmp_path, i)) for i in itertools.count())
    with workers.WorkerPool(2) as pool:
        done = [
            name
            for name, _ in itertools.islice(pool.run(slow_first, tasks, 5), 5)
        ]
    # The fifth starts only when the first is done.
    assert done[:3] == ["1", "2", "3"] and {*done[3:]} == {"0", "4"}


class CannotComeBack(Exception):
    def __init__(self, one, two):
        super().__init__(one)


def fail(kind):
    if kind == "pickle":
        raise CannotComeBack(1, 2)
    return threading.Lock()


def test_errors_come_through():
    with pytest.raises(ValueError, match="-1 is negative"):
        list(workers.generate(squares, [1, -1], 2))
    for kind, message in (("pickle", "CannotComeBack: 1"), ("lock", "pickle")):
        with (
            workers.WorkerPool(2) as pool,
            pytest.raises((RuntimeError, TypeError), match=message),
        ):
            list(pool.run(fail, [("it", (kind,))]))


def work(kind):
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "long result":
        time.sleep(0.5)
        return bytes(1 << 26)
    return os.getpid()


def killed(name):
    return pytest.raises(
        ChildProcessError,
        match=f"the process that made {name} was killed by SIGKILL",
    )


def test_a_process_killed_at_work_names_its_task():
    tasks = [("shard 0", ("",)), ("shard 1", ("die",))]
    with workers.WorkerPool(2) as pool, killed("shard 1"):
        list(pool.run(work, tasks))


def test_a_process_killed_while_it_sends_names_its_task():
    tasks = [("shard 0", ("",)), ("shard 1", ("long result",))]
    # Scripts that fixtures of other tests started may still run.
    others = {x.pid for x in multiprocessing.active_children()}
    with workers.WorkerPool(2) as pool:
        running = pool.run(work, tasks)
        _, idle = next(running)
        others.add(idle)
        # By then the front of the result fills the pipe.
        time.sleep(1.5)
        (busy,) = {x.pid for x in multiprocessing.active_children()} - others
        os.kill(busy, signal.SIGKILL)
        with killed("shard 1"):
            list(running)


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_process_killed_before_it_reads_a_task_names_it(is_sent):
    with workers.WorkerPool(2) as pool:
        ((_, pid),) = pool.run(work, [("shard 0", ("",))])
        if is_sent:
            os.kill(pid, signal.SIGSTOP)
            timer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
            timer.start()
        else:
            os.kill(pid, signal.SIGKILL)
            time.sleep(0.3)
        with killed("shard 1"):
            list(pool.run(work, [("shard 1", ("",))]))


PARENT = """
import os, sys, time
sys.path.insert(0, {root!r})
from data.io import workers
from tests.data.io import test_workers

if __name__ == "__main__":
    with workers.WorkerPool(2) as pool:
        for _ in pool.run(test_workers.say_pid, [("a", ()), ("b", ())]):
            pass
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
        [sys.executable, script], stdout=subprocess.PIPE, text=True
    ) as process:
        pids = [int(process.stdout.readline()) for _ in range(2)]
        assert all(map(is_running, pids))
        process.kill()
    end = time.monotonic() + 120
    while any(map(is_running, pids)):
        assert time.monotonic() < end
        time.sleep(0.05)
