"""Paths: remote, relative, in errors, and with names that look like patterns.

The last are files below folders of such names, too.
"""

import os

import pytest

from files import paths

ODD = "50% [new] *run?* \\{b}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an odd name, with records and a checkpoint."""
    odd_folder = tmp_path / ODD
    (odd_folder / "run_1").mkdir(parents=True)
    for name in ("rec-0", "rec-1", "rec[1]"):
        (odd_folder / "run_1" / name).touch()
    for ending in (".index", ".data-00000-of-00001"):
        (odd_folder / f"model.ckpt{ending}").write_text(ending)
    monkeypatch.chdir(tmp_path)
    return odd_folder


@pytest.mark.parametrize("is_absolute", [True, False])
@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("run_1/rec-*", ["run_1/rec-0", "run_1/rec-1"]),
        ("run_*/rec-0", ["run_1/rec-0"]),
        # A file as it stands, and not what else it matches.
        ("run_1/rec[1]", ["run_1/rec[1]"]),
        ("none/rec-*", []),
    ],
)
def test_folders_before_a_pattern_are_not_read_as_patterns(
    folder, pattern, matches, is_absolute
):
    before = str(folder) if is_absolute else f"./{ODD}"
    matched_paths = paths.list_matches(f"{before}/{pattern}")
    assert matched_paths == [f"{before}/{name}" for name in matches]


@pytest.mark.parametrize("start", [ODD, f"./{ODD}", "elsewhere/link[1]/.."])
def test_a_checkpoint_gets_a_name_without_patterns(folder, start):
    # What `..` of a link is depends on where it leads.
    os.mkdir("elsewhere")
    (folder / "inner").mkdir()
    os.symlink(folder / "inner", "elsewhere/link[1]")
    with paths.literal_path(f"{start}/model.ckpt") as name:
        assert not set(name) & set("*?[\\")
        for ending in (".index", ".data-00000-of-00001"):
            with open(f"{name}{ending}") as file:
                assert file.read() == ending
    assert not os.path.exists(os.path.dirname(name))
    assert (folder / "model.ckpt.index").exists()


@pytest.mark.parametrize("after", ["", "/", "/."])
def test_a_folder_gets_a_name_without_patterns(folder, after):
    with paths.literal_path(f"{ODD}{after}") as name:
        assert not set(name) & set("*?[\\")
        assert os.path.samefile(name, folder)


@pytest.mark.parametrize(
    ("path", "is_remote"),
    [("gs://bucket/file", True), ("folder/file", False), ("/a:b//c", False)],
)
def test_a_path_with_a_scheme_is_remote(path, is_remote):
    assert paths.is_remote(path) == is_remote


def test_other_processes_find_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert paths.absolute_path("a/../b") == f"{tmp_path}/a/../b"
    assert paths.absolute_path("/a") == "/a"
    assert paths.absolute_path("gs://a/b") == "gs://a/b"


def test_an_error_without_a_file_gets_its_name():
    with (
        pytest.raises(OSError, match="No space left") as caught,
        paths.explain_file_errors("out.txt"),
    ):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == "out.txt"


def test_an_error_keeps_the_file_that_it_names():
    with (
        pytest.raises(FileNotFoundError) as caught,
        paths.explain_file_errors("out.txt"),
    ):
        os.stat("/nowhere/in.txt")
    assert caught.value.filename == "/nowhere/in.txt"


def test_an_error_of_tensorflow_names_what_could_not_be_written():
    import tensorflow as tf

    error = tf.errors.UnavailableError(None, None, "no disk [Op:SaveV2]")
    named = paths.explain_tensorflow_errors("--export_dir=model")
    message = "^--export_dir=model cannot be written: no disk$"
    with pytest.raises(OSError, match=message), named:
        raise error
