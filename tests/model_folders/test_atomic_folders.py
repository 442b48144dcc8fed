"""Folders appear whole or not at all, and a user's files in them stay."""

import itertools
import json
import os
import re

import pytest

from files.atomic import partial_path
from model_folders import atomic_folders
from tests.support.output_files import snapshot


def write_folder(path, text="new"):
    """Writes a folder with one file in a subfolder."""
    with atomic_folders.atomic_folder(path, {"model.json": "{}\n"}) as folder:
        (folder / "part").mkdir()
        (folder / "part" / "file").write_text(text)


def read_part(path):
    """Returns what `write_folder` wrote to the file."""
    return (path / "part" / "file").read_text()


def refusal_of(path):
    """Returns why a folder is not replaced, and checks that nothing changes."""
    before = snapshot(path.parent)
    for function in (atomic_folders.check_replaceable, write_folder):
        with pytest.raises(ValueError, match=re.escape(str(path))) as caught:
            function(path)
    assert snapshot(path.parent) == before
    return str(caught.value)


def test_a_folder_of_only_its_own_files_is_replaced(tmp_path):
    path = tmp_path / "new" / "model"
    write_folder(path, "earlier")
    (path / "part" / "file").rename(path / "part" / "renamed")
    listed = json.loads((path / "model.json").read_text())["files"]
    assert listed == ["model.json", "part", "part/file"]
    assert "part/renamed" in refusal_of(path)
    (path / "part" / "renamed").unlink()
    write_folder(path)
    assert read_part(path) == "new"
    assert os.listdir(path.parent) == ["model"]


def test_a_full_disk_changes_nothing_and_the_folder_is_named(tmp_path):
    path = tmp_path / "new" / "model"
    write_folder(path)
    with (
        pytest.raises(OSError, match=f"'{path}'"),
        atomic_folders.atomic_folder(path),
    ):
        raise OSError(28, "No space left on device")
    assert read_part(path) == "new"
    assert os.listdir(path.parent) == ["model"]


@pytest.mark.parametrize("name", ["notes.txt", "part/notes", "link"])
def test_a_folder_with_a_users_file_is_not_replaced(tmp_path, name):
    path = tmp_path / "model"
    write_folder(path)
    if name == "link":
        (path / name).symlink_to(tmp_path)
    else:
        (path / name).write_text("mine")
    assert name in refusal_of(path)


@pytest.fixture
def their_model(tmp_path):
    """A folder with a model of another program."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/saved_model.pb").write_text("x")
    return tmp_path / "theirs"


def test_a_folder_that_was_not_written_here_is_not_replaced(their_model):
    refusal_of(their_model)


def test_a_file_is_not_replaced_by_a_folder(their_model):
    refusal_of(their_model / "saved_model.pb")


@pytest.mark.parametrize("content", ["[]", '{"files": 5}', "{}"])
def test_a_folder_with_another_model_json_is_not_replaced(tmp_path, content):
    path = tmp_path / "theirs"
    path.mkdir()
    (path / "model.json").write_text(content)
    refusal_of(path)


@pytest.mark.parametrize("content", ["[]", '{"files": 5}', "{}"])
def test_a_model_beside_another_model_json_is_not_replaced(
    their_model, content
):
    (their_model / "model.json").write_text(content)
    refusal_of(their_model)


def test_a_link_to_an_empty_folder_is_followed(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    write_folder(tmp_path / "link", "first")
    assert read_part(tmp_path / "empty") == "first"


def test_a_link_stays_when_its_folder_is_replaced(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    write_folder(tmp_path / "link", "first")
    write_folder(tmp_path / "link", "second")
    assert (tmp_path / "link").is_symlink()
    assert read_part(tmp_path / "empty") == "second"


def test_model_json_in_assets_extra_allows_replacing_a_saved_model(tmp_path):
    path = tmp_path / "export"
    for text in ("first", "second"):
        with atomic_folders.atomic_folder(path) as folder:
            (folder / "assets.extra").mkdir()
            (folder / "assets.extra" / "model.json").write_text("{}")
            (folder / "saved_model.pb").write_text(text)
    assert (path / "saved_model.pb").read_text() == "second"
    assert not (path / "model.json").exists()


def test_a_users_copy_of_the_old_folder_stays(tmp_path):
    path = tmp_path / "model"
    copy = tmp_path / "model.old"
    write_folder(path, "copied")
    path.rename(copy)
    write_folder(path)
    assert read_part(copy) == "copied"
    assert read_part(path) == "new"
    assert "model.old" in refusal_of(path)


def test_a_users_file_in_the_old_folder_of_a_killed_process_stays(tmp_path):
    path = tmp_path / "model"
    old = tmp_path / "model.old"
    write_folder(path)
    path.rename(old)
    write_folder(path)
    (old / ".moved").touch()
    (old / "notes.txt").write_text("mine")
    assert "model.old" in refusal_of(path)


def test_a_folder_is_on_the_disk_before_it_replaces_another(tmp_path, synced):
    path = tmp_path / "model"
    write_folder(path, "before")
    synced.clear()
    write_folder(path)
    partial = partial_path(path)
    synced_names = [name for name, _ in synced]
    assert {f"{partial}/part/file", f"{partial}/part", partial} <= {
        *synced_names
    }
    assert synced_names[-1] == str(tmp_path)
    assert "model" in synced[-1][1]


# What the operating system does to files, and `atomic_folder` uses.
OPERATIONS = (
    "mkdir",
    "open",
    "rename",
    "replace",
    "remove",
    "unlink",
    "rmdir",
)


def kill_at(number, function):
    """Kills a child at the given operation. Returns whether it ended before."""
    child = os.fork()
    if child == 0:
        count = itertools.count()

        def counted(operation):
            def run(*args, **kwargs):
                if next(count) == number:
                    os._exit(1)
                return operation(*args, **kwargs)

            return run

        try:
            for name in OPERATIONS:
                setattr(os, name, counted(getattr(os, name)))
            function()
            os._exit(0)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("has_earlier", [False, True])
def test_a_kill_between_any_two_operations_leaves_the_old_or_the_new(
    tmp_path, has_earlier
):
    path = tmp_path / "model"
    kept = set()
    number = 0
    is_done = False
    while not is_done:
        if has_earlier:
            write_folder(path, "old")
        is_done = kill_at(number, lambda: write_folder(path))
        places = (path, tmp_path / "model.old")
        contents = [read_part(place) for place in places if place.exists()]
        assert not has_earlier or contents, number
        kept.update(contents)
        # The next one puts the old folder back, even where it fails itself.
        with pytest.raises(KeyError), atomic_folders.atomic_folder(path):
            raise KeyError
        assert os.listdir(tmp_path) == ["model"] * path.exists(), number
        assert not contents or read_part(path) == contents[0], number
        write_folder(path, "again")
        assert sorted(os.listdir(path)) == ["model.json", "part"], number
        if not has_earlier:
            os.rename(path, tmp_path.parent / f"{number}-{tmp_path.name}")
        number += 1
    assert number > 10
    assert kept == {"new", *["old"] * has_earlier}
