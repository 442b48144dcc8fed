"""The stages of predict.py that need no model."""

import pytest

from serving.predict.predict_stages import check_arguments, list_input_files


def test_texts_or_a_file_may_be_named():
    check_arguments(None, ["a boat", "the sea"])
    check_arguments("boats.csv", [])


def test_texts_and_a_file_may_not_be_named_together():
    with pytest.raises(ValueError, match=r"--input_file=boats\.csv.*'a boat'"):
        check_arguments("boats.csv", ["a boat"])


def test_the_path_of_a_file_is_refused_as_a_text():
    with pytest.raises(ValueError, match="set it as --input_file"):
        check_arguments(None, ["a boat", __file__])


def test_without_a_file_standard_input_is_read():
    assert list_input_files(None) == ["<stdin>"]


def test_the_path_of_a_file_is_not_a_pattern(tmp_path):
    path = tmp_path / "boats[1],*.txt"
    path.touch()
    assert list_input_files(str(path)) == [str(path)]


def test_the_files_of_a_pattern_are_read_in_order(tmp_path):
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).touch()
    found = list_input_files(str(tmp_path / "*.txt"))
    assert found == [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
