"""Keys of the columns of a table that have no name of their own."""

from data.tables.unnamed_columns import RepeatedName, unique_keys


def test_the_first_column_of_a_name_keeps_it():
    assert unique_keys(["Tag", "text", "Tag"]) == ["Tag", "text", "Tag.1"]


def test_a_key_is_no_name_of_another_column():
    keys = unique_keys(["Tag", "Tag", "Tag.1", "", ""])
    assert keys == ["Tag", "Tag.2", "Tag.1", "", ".1"]


def test_a_repeated_name_knows_the_name_in_the_file():
    _, key = unique_keys(["Tag", "Tag"])
    assert isinstance(key, RepeatedName)
    assert key.name == "Tag"
