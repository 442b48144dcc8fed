"""Locks are held once, and freed by whatever ends their process."""

import contextlib
import os
import re
import signal

import pytest

from files import lock
from tests.support import fresh_process
from tests.support.waiting import TIMEOUT, killed_late

HOLD = """
import sys, time
from files import lock
with lock.hold_lock(sys.argv[1], "--output_dir=run"):
    print("held", flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def holder_of(path):
    """A process that holds a lock, until the test or the block ends it."""
    process = fresh_process.start("-c", HOLD, path)
    with process, killed_late(process):
        assert process.stdout.readline() == "held\n", process.stderr.read()
        yield process
        process.kill()


def assert_locked(path):
    """Checks that a lock cannot be held."""
    with (
        pytest.raises(BlockingIOError, match="--output_dir=run"),
        lock.hold_lock(path, "--output_dir=run"),
    ):
        pytest.fail("the lock was given twice")


def test_a_lock_is_held_once_within_a_process(tmp_path):
    path = tmp_path / ".lock"
    with lock.hold_lock(path, "x"):
        assert_locked(path)


def test_a_released_lock_leaves_no_file(tmp_path):
    path = tmp_path / "new" / "run" / ".lock"
    with lock.hold_lock(path, "x"):
        assert os.listdir(path.parent) == [".lock"]
    assert os.listdir(tmp_path) == []


def test_an_interrupt_releases_the_lock_and_keeps_other_files(tmp_path):
    path = tmp_path / "run" / ".lock"

    def interrupt():
        with lock.hold_lock(path, "x"):
            (path.parent / "result").write_text("")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert os.listdir(path.parent) == ["result"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_kernel_frees_the_lock_of_a_killed_process(tmp_path, number):
    path = tmp_path / "run" / ".lock"
    with holder_of(path) as process:
        assert_locked(path)
        process.send_signal(number)
        process.wait(TIMEOUT)
    assert path.exists()
    with lock.hold_lock(path, "x"):
        assert_locked(path)
    assert not path.exists()


@pytest.mark.parametrize("exists", [False, True])
def test_a_link_is_not_followed(tmp_path, exists):
    path = tmp_path / ".lock"
    target = tmp_path / "target"
    path.symlink_to(target)
    if exists:
        target.touch()
    with (
        pytest.raises(OSError, match=re.escape(str(path))),
        lock.hold_lock(path, "x"),
    ):
        pytest.fail("a link was locked")
    assert path.is_symlink()
    assert target.exists() == exists


def test_a_users_file_with_the_name_of_a_lock_stays(tmp_path):
    path = tmp_path / "poetry.lock"
    fifo = tmp_path / "pipe.lock"
    path.write_text("name = 'numpy'\n")
    os.mkfifo(fifo)
    with lock.hold_lock(path, "x"), lock.hold_lock(fifo, "x"):
        pass
    assert path.read_text() == "name = 'numpy'\n"
    assert fifo.is_fifo()
