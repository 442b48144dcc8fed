"""Work shared out among processes."""

import os
import signal
import time

import pytest

from data.parallel_jobs import workers
from tests.support import fresh_process, waiting


def square(number):
    return os.getpid(), number * number


@pytest.mark.parametrize("num_processes", [0, 1, 2])
def test_each_call_is_made_in_other_processes(num_processes):
    calls = [(number,) for number in range(1500)]
    results = list(workers.run_in_processes(square, calls, num_processes))
    assert {value for _, value in results} == {
        number * number for number in range(1500)
    }
    is_here = {pid == os.getpid() for pid, _ in results}
    if num_processes:
        assert is_here == {num_processes == 1}


def test_a_system_without_affinity_starts_a_process_for_each_cpu(monkeypatch):
    """MacOS has no os.sched_getaffinity."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    results = list(workers.run_in_processes(square, [(2,), (3,)], 0))
    assert {value for _, value in results} == {4, 9}


def fail(number):
    raise ValueError(f"{number} is wrong")


def test_an_error_of_a_call_is_raised_in_the_caller():
    with pytest.raises(ValueError, match="0 is wrong"):
        list(workers.run_in_processes(fail, [(0,), (0,)], 2))


# Each worker prints its process id, and would work for ten minutes.
PARENT = """
import os
import time

from data.parallel_jobs import workers


def say_pid():
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(600)


if __name__ == "__main__":
    list(workers.run_in_processes(say_pid, [(), ()], 2))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="no /proc")
def test_no_process_outlives_a_killed_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with (
        fresh_process.start(script, TMPDIR=str(tmp_path)) as process,
        waiting.killed_late(process),
    ):
        pids = [int(process.stdout.readline()) for _ in range(2)]
        assert all(map(waiting.is_running, pids))
        process.kill()
    waiting.wait_for_end(pids)
    assert os.listdir(tmp_path) == ["parent.py"]


def fail_late(number, end):
    """Call 0 takes a minute, and the process of call 3 is killed."""
    if number == 0:
        time.sleep(60)
        end.touch()
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return bytes(1 << 20)


def test_a_death_is_noticed_while_the_oldest_call_works(tmp_path):
    end = tmp_path / "end_of_call_0"
    with pytest.raises(ChildProcessError, match="SIGKILL"):
        list(
            workers.run_in_processes(fail_late, [(i, end) for i in range(6)], 2)
        )
    assert not end.exists()


def work(number):
    time.sleep(0.1)
    return os.getpid(), bytes(1 << 22)


def test_a_process_killed_at_any_time_is_noticed():
    """Before it reads a call, and while it sends a long result, too."""

    def kill_each():
        for pid, _ in workers.run_in_processes(
            work, [(i,) for i in range(100)], 2
        ):
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(ChildProcessError, match="SIGKILL"):
        kill_each()


WORKER = """
import atexit, multiprocessing, time
from data.parallel_jobs import workers

calls, calls_of_worker = multiprocessing.Pipe()
parent, parent_of_worker = multiprocessing.Pipe()

def end_parent():
    parent.close()
    time.sleep(0.5)

atexit.register(end_parent)
calls.close()
workers.make_calls(print, calls_of_worker, parent_of_worker)
"""


def test_a_worker_that_ends_with_its_parent_prints_nothing():
    worker = fresh_process.run("-c", WORKER).check()
    assert worker.stderr == ""
