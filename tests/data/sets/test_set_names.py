"""Names of sets, with and without a suffix."""

import pytest

from data.sets import set_names


@pytest.mark.parametrize(
    ("set_name", "base_set", "suffix", "stem"),
    [
        ("train", "train", "", "train"),
        ("dev", "dev", "", "eval"),
        ("dev_mm", "dev", "_mm", "eval_mm"),
        ("test_mm", "test", "_mm", "predict_mm"),
    ],
)
def test_a_name_has_a_base_and_a_suffix(set_name, base_set, suffix, stem):
    assert set_names.base_set_of(set_name) == base_set
    assert set_names.suffix_of(set_name) == suffix
    assert set_names.file_stem_of(set_name) == stem


@pytest.mark.parametrize("set_name", ["eval", "predict_mm", ""])
def test_base_set_of_refuses_an_unknown_name(set_name):
    with pytest.raises(ValueError, match=f"a set is named '{set_name}'"):
        set_names.base_set_of(set_name)


def test_is_base_set_refuses_a_name_with_a_suffix():
    assert set_names.is_base_set("dev")
    assert not set_names.is_base_set("dev_mm")


@pytest.mark.parametrize("name", ["train.CSV", "Dev.csv.bz2", "test.csv.ZST"])
def test_find_set_file_ignores_case_and_accepts_compressed_files(
    tmp_path, name
):
    (tmp_path / name).touch()
    stem = name.partition(".")[0].lower()
    path = set_names.find_set_file(tmp_path, stem, [f"{stem}.csv"])
    assert path == str(tmp_path / name)


def test_two_files_of_a_set_are_an_error(tmp_path):
    for name in ("Dev.csv.bz2", "dev.csv.xz"):
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match="keep only one"):
        set_names.find_set_file(tmp_path, "dev", ["dev.csv"])
