"""Which rows of a table are read, their numbers, and what is logged of them."""

import pytest

from tests.support.tables.labeled_tables import create_processor, read_examples


def test_rows_of_a_data_file_are_numbered_as_a_spreadsheet_does(tmp_path):
    path = tmp_path / "table.csv"
    rows = "".join(f"text {row},{'xy'[row % 2]}\n" for row in range(40))
    path.write_text(f"text,label\n{rows}")
    processor = create_processor(tmp_path, data_file=str(path))
    examples = [*processor.sets.read("train"), *processor.sets.read("dev")]
    guid_of_text = {example.text_a: example.guid for example in examples}
    assert guid_of_text["text 0"] == "row 2"
    assert guid_of_text["text 39"] == "row 41"


def test_a_train_set_without_the_column_of_the_labels_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="'label'"):
        read_examples(tmp_path, "train.csv", "text\na\n")


def test_a_test_set_may_lack_the_column_of_the_labels(tmp_path):
    options = {"labels": ["x", "y"]}
    (example,) = read_examples(tmp_path, "test.csv", "text\na\n", **options)
    assert example == ("test-1", "a", None, None)


def test_the_log_counts_labels_in_another_spelling(tmp_path, caplog):
    caplog.set_level("INFO")
    read_examples(tmp_path, "train.csv", "text,label\na, x\nb,x\nc,y \n")
    expected = "2 labels brought to one spelling of blanks and accents"
    assert f"{tmp_path / 'train.csv'}: {expected}" in caplog.messages


def test_nothing_is_logged_of_a_set_that_is_complete(tmp_path, caplog):
    read_examples(tmp_path, "train.csv", "text,label\na,x\nb,y\n")
    assert not caplog.messages
