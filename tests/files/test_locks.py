import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from files import locks
from tests.golden import ROOT

HOLD = """
import sys, time
from files import locks
with locks.hold(sys.argv[1], "--output_dir=run"):
    print("held", flush=True)
    time.sleep(600)
"""


def start(path):
    """Starts a process that holds a lock, and waits until it does."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n", process.stderr.read()
    return process


def finish(process):
    process.kill()
    process.communicate()


def leave(path, **changes):
    """Leaves a lock as a killed process does, perhaps of another host."""
    with locks.hold(path, "x"):
        left = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(left))
    return left


def refused(path):
    with pytest.raises(OSError) as caught:
        with locks.hold(path, "--output_dir=run"):
            pytest.fail("the lock was given twice")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_second_process_names_the_first(tmp_path):
    path = tmp_path / "new" / "run" / ".lock"
    process = start(path)
    assert f"--output_dir=run is in use by process {process.pid}" in refused(
        path
    )
    finish(process)


def test_nothing_is_left_of_it(tmp_path):
    path = tmp_path / "new" / "run" / ".lock"
    with locks.hold(path, "x"):
        assert os.listdir(path.parent) == [".lock"]
        # The same holds within a process.
        assert f"process {os.getpid()}" in refused(path)
    assert os.listdir(tmp_path) == []
    with pytest.raises(KeyboardInterrupt):
        with locks.hold(path, "x"):
            (path.parent / "result").write_text("")
            raise KeyboardInterrupt
    assert os.listdir(path.parent) == ["result"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_after_a_kill_the_next_one_takes_over(tmp_path, number, caplog):
    path = tmp_path / "run" / ".lock"
    process = start(path)
    process.send_signal(number)
    process.communicate()
    assert path.exists()
    with locks.hold(path, "--output_dir=run"):
        assert json.loads(path.read_text())["pid"] == os.getpid()
    assert not path.exists()
    assert f"--output_dir=run: process {process.pid}" in caplog.text


def test_a_lock_of_another_host(tmp_path):
    path = tmp_path / ".lock"
    found = {"host": "node7", "pid": 12, "started": "2026-01-02 03:04:05"}
    left = leave(path, **found, kernel=None)
    assert "--take_over_lock" in refused(path)
    assert json.loads(path.read_text()) == left


def test_a_restarted_container_takes_over_its_lock(tmp_path, caplog):
    path = tmp_path / ".lock"
    process = start(path)
    left = json.loads(path.read_text()) | {"host": "pod-a"}
    path.write_text(json.dumps(left))
    # It still runs, which the system knows.
    assert f"in use by process {process.pid} on host pod-a" in refused(path)
    finish(process)
    with locks.hold(path, "--output_dir=run"):
        assert json.loads(path.read_text())["host"] == socket.gethostname()
    assert "ended before it finished" in caplog.text


def test_a_lock_of_another_machine_is_taken_over_by_a_flag_alone(
    tmp_path, monkeypatch
):
    path = tmp_path / ".lock"
    boot, disk = leave(path)["kernel"].split("/")
    # On the same machine, the number may belong to another process: this one.
    with locks.hold(path, "x"):
        assert json.loads(path.read_text())["pid"] == os.getpid()
    # Another machine, and another mount that may keep locks to itself.
    for kernel in (f"other/{disk}", f"{boot}/7", None):
        left = leave(path, host="pod-a", kernel=kernel)
        assert "or set --take_over_lock" in refused(path)
        with monkeypatch.context() as context:
            context.setattr(locks, "is_on", "take_over_lock".__eq__)
            with locks.hold(path, "x"):
                # The flag does not break a lock that is held.
                path.write_text(json.dumps(left))
                assert "is in use by process" in refused(path)
        assert not path.exists()


def test_a_host_is_no_proof_where_nothing_locks(tmp_path, monkeypatch):
    def refuse(file, operation):
        raise OSError(errno.ENOTSUP, "no locks here")

    path = tmp_path / ".lock"
    leave(path, host="pod-a")
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert "which may still run" in refused(path)


@pytest.mark.parametrize("text", [None, ""])
def test_a_link_is_not_followed(tmp_path, text):
    path, target = tmp_path / ".lock", tmp_path / "target"
    path.symlink_to(target)
    if text is not None:
        target.write_text(text)
    assert str(path) in refused(path)
    assert path.is_symlink() and target.exists() == (text is not None)
    assert not text or target.read_text() == text


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_named(tmp_path, make):
    path = tmp_path / ".lock"
    make(path)
    assert str(path) in refused(path)


@pytest.mark.parametrize(
    "text",
    ["", "{", "\0" * 90, '{"host": 1}', '{"host": "\xff'],
)
def test_a_lock_that_is_cut_off(tmp_path, text):
    path = tmp_path / ".lock"
    path.write_text(text, encoding="latin-1")
    with locks.hold(path, "x"):
        assert json.loads(path.read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("text", ["[1]", "\xff", "name = 'numpy'\n"])
def test_a_users_file_with_the_name_of_a_lock_is_left_alone(tmp_path, text):
    path = tmp_path / "corpus.lock"
    path.write_text(text, encoding="latin-1")
    assert str(path) in refused(path)
    assert path.read_text(encoding="latin-1") == text


def test_a_folder_that_was_removed_meanwhile_is_another_ones(tmp_path):
    path = tmp_path / "run" / ".lock"
    with locks.hold(path, "x"):
        path.unlink()
        process = start(path)
    assert path.exists(), "the second one's lock was removed by the first"
    finish(process)


def test_many_processes_in_a_row_and_at_once(tmp_path):
    """Of processes that come and go, no two hold the lock together."""
    path = tmp_path / "new" / "run" / ".lock"
    script = """
import os, sys
from files import locks
done = 0
while done < 200:
    try:
        with locks.hold(sys.argv[1], "x"):
            # Fails where it is there.
            os.close(os.open(sys.argv[2], os.O_CREAT | os.O_EXCL))
            os.remove(sys.argv[2])
            done += 1
    except BlockingIOError:
        pass
"""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(tmp_path / "inside")],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert not path.exists()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file/run", "link"):
        with pytest.raises(OSError, match=str(tmp_path / name)):
            with locks.hold(tmp_path / name / ".lock", "x"):
                pytest.fail("there is no such folder")
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_remote_paths_are_let_through():
    path = "gs://bucket/run/.lock"
    with locks.hold(path, "x"), locks.hold(path, "x"):
        pass


def test_a_system_without_fcntl_says_so(tmp_path, monkeypatch, caplog):
    # As on Windows, where the file still names its owner.
    monkeypatch.setitem(sys.modules, "fcntl", None)
    path = tmp_path / ".lock"
    with locks.hold(path, "x"):
        assert json.loads(path.read_text())["pid"] == os.getpid()
    assert "Windows lacks fcntl, so the output is not" in caplog.text
    assert not path.exists()
