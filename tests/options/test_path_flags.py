"""The paths in the value of a flag, by its kind."""

import pytest

from options.path_flags import PathFlag
from options.path_kinds import PathKind


@pytest.mark.parametrize(
    ("kind", "value", "paths"),
    [
        (PathKind.INPUT_FILE, "a,b", ["a,b"]),
        (PathKind.INPUT_FILES, "a, b*,", ["a", "b*"]),
        (PathKind.OUTPUT_FILES, "a, b", ["a", "b"]),
        (PathKind.OUTPUT_FILES, "a,", ["a", ""]),
        (PathKind.RUNS, "x=runs/1, runs/2", ["runs/1", "runs/2"]),
        (PathKind.CODE, "own.py:Rows", ["own.py"]),
    ],
)
def test_the_kind_says_which_paths_a_value_contains(kind, value, paths):
    assert PathFlag("flag", value, kind).paths == paths


def test_an_output_folder_has_a_lock_file():
    run = PathFlag("output_dir", "run", PathKind.RUN_FOLDER)
    assert run.lock_file == "run/state/.lock"
    export = PathFlag("export_dir", "export/", PathKind.NEW_FOLDER)
    assert export.lock_file == "export.lock"
    assert PathFlag("data_dir", "a", PathKind.DATA_FOLDER).lock_file is None
