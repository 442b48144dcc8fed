"""The file of a set in a data folder."""

import pytest

from data.io.set_files import find_set_file


@pytest.mark.parametrize("name", ["train.CSV", "Dev.csv.bz2", "test.csv.ZST"])
def test_sets_are_found_in_any_case_and_packing(tmp_path, name):
    (tmp_path / name).touch()
    stem = name.partition(".")[0].lower()
    path = find_set_file(tmp_path, stem, [f"{stem}.csv"])
    assert path == str(tmp_path / name)


def test_two_files_of_a_set_are_an_error(tmp_path):
    for name in ("Dev.csv.bz2", "dev.csv.xz"):
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match="keep only one"):
        find_set_file(tmp_path, "dev", ["dev.csv"])
