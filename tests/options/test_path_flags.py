"""The paths in the value of a flag, by its type."""

import pytest

from options.fields import PathType
from options.path_flags import (
    PathFlag,
    parse_named_folders,
    split_file_and_name,
)


@pytest.mark.parametrize(
    ("path_type", "value", "paths"),
    [
        (PathType.INPUT_FILE, "a,b", ["a,b"]),
        (PathType.INPUT_FILES, "a, b*,", ["a", "b*"]),
        (PathType.OUTPUT_FILES, "a, b", ["a", "b"]),
        (PathType.OUTPUT_FILES, "a,", ["a", ""]),
        (PathType.RUNS, "x=runs/1, runs/2", ["runs/1", "runs/2"]),
        (PathType.CODE, "own.py:Rows", ["own.py"]),
    ],
)
def test_the_type_says_which_paths_a_value_contains(path_type, value, paths):
    assert PathFlag("flag", value, path_type).paths == paths


def test_an_output_folder_has_a_lock_file():
    run = PathFlag("output_dir", "run", PathType.RUN_FOLDER)
    assert run.lock_file == "run/state/.lock"
    export = PathFlag("export_dir", "export/", PathType.NEW_FOLDER)
    assert export.lock_file == "export.lock"
    assert PathFlag("data_dir", "a", PathType.DATA_FOLDER).lock_file is None


def test_split_file_and_name_accepts_a_file_without_a_name():
    assert split_file_and_name("own.py:Rows") == ("own.py", "Rows")
    assert split_file_and_name("own.py") == ("own.py", "")


def test_parse_named_folders_accepts_folders_without_a_name():
    folders = parse_named_folders("base=runs/1, runs/2,")
    assert folders == [("base", "runs/1"), ("", "runs/2")]
