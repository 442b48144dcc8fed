"""Names of sets, with and without a suffix, and the flags of their files."""

import dataclasses

import pytest

from data.sets import set_names
from data.sets.set_names import DataFileOptions
from options import fields
from options.config import Config
from options.fields import PathType


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Config):
    """The flags of a script that splits a file."""

    data: DataFileOptions = fields.group(DataFileOptions)


DATA_FILE, DEV_FRACTION = Config.list_options()


def test_the_file_is_an_input_that_a_user_may_leave_out():
    assert DATA_FILE.path_type == PathType.INPUT_FILE
    assert DATA_FILE.default is None


@pytest.mark.parametrize(
    ("fraction", "is_valid"),
    [(0.01, True), (0.9, True), (0, False), (0.95, False), (True, False)],
)
def test_neither_set_may_be_empty(fraction, is_valid):
    assert DEV_FRACTION.is_valid(fraction) == is_valid
