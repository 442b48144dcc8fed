"""Work shared out among processes."""

import itertools
import os
import signal

import pytest

from data import parallel


def squares(items):
    for item in items:
        if item == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if item < 0:
            raise ValueError(f"{item} is negative")
        yield from [(os.getpid(), item * item)] * (item % 3)


@pytest.mark.parametrize("num_processes", [0, 1, 2])
def test_order_and_processes(num_processes):
    found = list(parallel.generate(squares, range(1500), num_processes))
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

    results = parallel.generate(squares, count(), 2)
    for _ in range(2000):
        next(results)
    results.close()
    assert taken < 2000 + 256 * 8


def test_errors_come_through():
    with pytest.raises(ValueError, match="-1 is negative"):
        list(parallel.generate(squares, [1, -1], 2))
    with pytest.raises(
        ChildProcessError, match="one of 2 processes was killed"
    ):
        list(parallel.generate(squares, [1, "kill"], 2))
