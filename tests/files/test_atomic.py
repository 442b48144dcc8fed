"""Files appear whole or not at all, and links, FIFOs and modes are kept."""

import os
import stat
import threading
import types

import pytest

from files import atomic
from tests.support import fresh_process
from tests.support.waiting import TIMEOUT, killed_late


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, synced):
    (tmp_path / "link").symlink_to(tmp_path / "new" / "out")
    atomic.write_text(tmp_path / "link", "text")
    folder = str(tmp_path / "new")
    partial = os.path.basename(atomic.partial_path("out"))
    assert synced == [(f"{folder}/{partial}", [partial]), (folder, ["out"])]


def test_processes_of_other_machines_have_other_partial_files(monkeypatch):
    names = set()
    for machine in ("a", "b"):
        host = types.SimpleNamespace(nodename=machine)
        monkeypatch.setattr(os, "uname", lambda host=host: host)
        names.add(atomic.partial_path("out"))
    assert len(names) == 2


def test_a_file_appears_only_when_all_is_written(tmp_path):
    path = tmp_path / "new" / "out"
    with atomic.atomic_open(path) as file:
        file.write(b"text")
        assert not path.exists()

    def fail():
        with atomic.atomic_open(path) as file:
            file.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_bytes() == b"text"
    assert os.listdir(path.parent) == ["out"]


def test_who_reads_the_old_file_reads_none_of_the_new_one(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with open(path, "rb") as reader:
        atomic.write_bytes(path, b"new, and longer")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new, and longer"


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    target = tmp_path / "elsewhere" / "target"
    link = tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    atomic.write_text(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert os.listdir(target.parent) == ["target"]
    # The permissions are handed on.
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_fifo_is_written_through(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    contents = []
    reader = threading.Thread(target=lambda: contents.append(fifo.read_bytes()))
    reader.start()
    atomic.write_text(fifo, "through")
    reader.join(60)
    assert contents == [b"through"]
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)
    assert os.listdir(tmp_path) == ["fifo"]


WRITE = """
import sys, time
from files import atomic
with atomic.atomic_open(sys.argv[1]) as file:
    print("begun", flush=True)
    time.sleep(600)
"""
# What no killed process leaves of an output `out`.
THEIRS = [
    "out.partial-",
    "out.partial-x",
    "out.partial-7.txt",
    "my-out.partial-7",
]


def test_a_write_removes_only_partial_files_of_killed_processes(tmp_path):
    path = tmp_path / "out"
    for name in THEIRS:
        (tmp_path / name).touch()
    process = fresh_process.start("-c", WRITE, path)
    with process, killed_late(process):
        assert process.stdout.readline() == "begun\n"
        (partial,) = tmp_path.glob("out.partial-[0-9]*[0-9]")
        assert partial.name.endswith(str(process.pid))
        atomic.write_text(path, "text")
        assert partial.exists(), "another process still writes it"
        process.kill()
    atomic.write_text(path, "text")
    assert sorted(os.listdir(tmp_path)) == sorted([*THEIRS, "out"])


def test_another_process_never_removes_a_file_that_is_being_written(tmp_path):
    """Three processes write the same file again and again, as workers may."""
    code = "import sys; from files.atomic import write_text\n"
    code += "for number in range(2000): write_text(sys.argv[1], 'whole')"
    command = ["-c", code, tmp_path / "file"]
    writers = [fresh_process.start(*command) for _ in range(3)]
    errors = [writer.communicate(timeout=TIMEOUT)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], errors
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
