"""Files appear whole or not at all, and links, FIFOs and modes are kept."""

import os
import stat
import threading

import pytest

from files import atomic, export_folders
from tests import script_runner


@pytest.fixture
def synced(monkeypatch):
    """Lists what is really synced: the path, and the names in a folder."""
    found = []

    def record(number):
        path = os.readlink(f"/proc/self/fd/{number}")
        names = sorted(os.listdir(path)) if os.path.isdir(path) else None
        found.append((path, names))
        script_runner.FSYNC(number)

    monkeypatch.setattr(os, "fsync", record)
    return found


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, synced):
    (tmp_path / "link").symlink_to(tmp_path / "new" / "out")
    atomic.write_text(tmp_path / "link", "text")
    folder = str(tmp_path / "new")
    assert synced == [
        (f"{folder}/out.partial-{os.getpid()}", None),
        (folder, ["out"]),
    ]


def test_an_export_is_on_the_disk_before_it_replaces_another(tmp_path, synced):
    path = tmp_path / "export"
    for text in ("before", "after"):
        synced.clear()
        with export_folders.create(path) as folder:
            (folder / "part").mkdir()
            (folder / "part" / "file").write_text(text)
        paths = [path.removeprefix(str(tmp_path)) for path, _ in synced]
        assert "/export.unfinished/part/file" in paths
        assert "/export.unfinished/part" in paths
        assert paths[-1] == ""
        assert "export" in synced[-1][1]
    assert (path / "part" / "file").read_text() == "after"


def test_a_file_appears_only_when_all_is_written(tmp_path):
    path = tmp_path / "new" / "out"
    with atomic.atomic_open(path) as file:
        file.write(b"text")
        assert not path.exists()
    with pytest.raises(KeyError), atomic.atomic_open(path) as file:
        file.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"text"
    assert os.listdir(path.parent) == ["out"]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    atomic.write_text(link, "after")
    assert link.is_symlink() and target.read_text() == "after"
    assert os.listdir(target.parent) == ["target"]
    # The permissions are handed on.
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    # A copy onto itself does nothing.
    atomic.copy_file(target, link)
    assert link.is_symlink() and target.read_text() == "after"


def test_a_fifo_is_written_through(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    atomic.write_text(fifo, "through")
    reader.join(60)
    assert read == [b"through"]
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)
    assert os.listdir(tmp_path) == ["fifo"]


def test_what_cannot_be_written_is_refused_before(tmp_path):
    with pytest.raises(OSError, match=f"{tmp_path} is a folder"):
        atomic.write_text(tmp_path, "text")
    with pytest.raises(ValueError, match="surrogate"):
        atomic.write_text(tmp_path / "out", "a\ud800")
    assert not os.listdir(tmp_path)
