"""How the values of some types of paths are written."""

from options.path_types import parse_named_folders, split_file_and_name


def test_split_file_and_name_accepts_a_file_without_a_name():
    assert split_file_and_name("own.py:Rows") == ("own.py", "Rows")
    assert split_file_and_name("own.py") == ("own.py", "")


def test_parse_named_folders_accepts_folders_without_a_name():
    folders = parse_named_folders("base=runs/1, runs/2,")
    assert folders == [("base", "runs/1"), ("", "runs/2")]
