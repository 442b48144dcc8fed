"""The columns of a table of texts and labels, by flags and by names."""

import json

import pytest

from data.classification.table_tasks import table_columns
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_task_specs import TABLE_TASK_SPECS
from data.sets.data_file_split import DataFileOptions
from data.tables.tables import Table


def find_with_flags(path, columns, **given):
    """Writes a table of the columns, and returns the columns to use."""
    row = dict.fromkeys(columns, "x")
    path.write_text(json.dumps(row))
    options = TableOptions(**given)
    table = Table(path, table_columns.layout_of(options))
    return table_columns.find_unset_columns(options, frozenset(given), table)


def test_the_columns_of_all_flags_are_logged_if_any_was_found(tmp_path, caplog):
    caplog.set_level("INFO", logger="absl")
    options = TableOptions(text_column="body")
    given = frozenset(["text_column"])
    table = Table(tmp_path / "a.csv")
    table_columns.log_columns(options, given, table, {})
    assert not caplog.messages
    found = {"label_column": "kind"}
    table_columns.log_columns(options, given, table, found)
    (message,) = caplog.messages
    assert message.endswith("a.csv: --text_column=body --label_column=kind")


PAIRS = pytest.mark.parametrize(
    "columns",
    [
        ["idx", "question", "passage", "label"],
        ["index", "question", "sentence", "label"],
        ["premise", "hypothesis", "label"],
        ["id", "sentence1", "sentence2", "label"],
        ["Text_A", "Text_B", "label"],
        ["text", "text_b", "label"],
        ["question 1", "question 2", "is_duplicate"],
        ["Subject", "Body", "label"],
        ["label", "title", "text"],
        ["Class", "Title", "Description"],
        ["text", "text_pair", "label"],
        ["title", "selftext", "label"],
    ],
)


@PAIRS
def test_a_second_column_of_texts_is_asked_for(tmp_path, columns):
    path = tmp_path / "a.jsonl"
    with pytest.raises(ValueError, match="--text_b_column") as error:
        find_with_flags(path, columns)
    assert f"--data_file={path}" in str(error.value)
    assert "only --text_column" in str(error.value)


@PAIRS
def test_a_column_that_a_flag_names_is_the_only_text(tmp_path, columns):
    others = [
        column
        for column in columns
        if column.casefold() not in ("label", "class")
    ]
    given = {"text_column": others[-1], "label_column": columns[0]}
    assert find_with_flags(tmp_path / "a.jsonl", columns, **given) == {}


@pytest.mark.parametrize(
    "columns",
    [
        ["id", "date", "url", "text", "label"],
        ["text", "label", "comment"],
        ["title", "label", "id"],
        ["text", "answer", "label", "_view_id"],
        ["sentence", "label", "idx"],
    ],
)
def test_one_column_of_texts_is_found(tmp_path, columns):
    actual = find_with_flags(tmp_path / "a.jsonl", columns)
    assert actual["label_column"] == "label"


@pytest.fixture
def commas_file(tmp_path):
    """A train set whose names of columns contain commas."""
    rows = "".join(f't{i},"{i % 2}",1\n' for i in range(40))
    path = tmp_path / "train.csv"
    path.write_text(f'text,"Category, main","x, y, z"\n{rows}')
    return path


OF_COMMAS = TableOptions(label_column="Category, main")


def check_commas(data_dir, data_file, table):
    """Checks the labels of the column whose name contains a comma."""
    data = DataFileOptions(data_file=data_file)
    processor = TABLE_TASK_SPECS["csv"].create_processor(
        data_dir, data, OF_COMMAS, frozenset(), table
    )
    assert processor.read_labels() == ["0", "1"]
    assert processor.output_mode == "classification"


def test_a_name_with_commas_is_one_column_of_a_folder(commas_file):
    check_commas(commas_file.parent, None, None)


def test_a_name_with_commas_is_one_column_of_a_data_file(commas_file):
    table = Table(commas_file, table_columns.layout_of(OF_COMMAS))
    check_commas(None, str(commas_file), table)


def test_the_text_beside_a_label_with_commas_is_found(commas_file):
    table = Table(commas_file, table_columns.layout_of(OF_COMMAS))
    given = frozenset(["label_column"])
    actual = table_columns.find_unset_columns(OF_COMMAS, given, table)
    assert actual == {"text_column": "text"}


def test_a_text_with_commas_in_its_name_is_found_by_its_flag(commas_file):
    flags = {"text_column": "x, y, z", "label_column": "text"}
    options = TableOptions(**flags)
    table = Table(commas_file)
    assert not table_columns.find_unset_columns(
        options, frozenset(flags), table
    )


def test_a_malformed_table_does_not_pass_for_a_missing_one(tmp_path):
    options = TableOptions(label_column="a,b")

    def create():
        return TABLE_TASK_SPECS["csv"].create_processor(
            tmp_path, DataFileOptions(), options, frozenset()
        )

    assert create().read_labels() == ["a", "b"]
    (tmp_path / "dev.jsonl").write_text('{"text": "x", "a,b": "y"}\n')
    assert create().output_mode == "classification"
    (tmp_path / "train.jsonl").write_text('{"text": "x", \n')
    with pytest.raises(ValueError, match=r"train\.jsonl is not valid"):
        create()


def find_columns(folder, **given):
    """Finds the unset columns of a table with two columns named twice."""
    path = folder / "a.csv"
    path.write_text("Name,Labels,Labels,comment,comment,Kind\na,b,c,d,e,f\n")
    options = TableOptions(**given)
    return table_columns.find_unset_columns(
        options, frozenset(given), Table(path)
    )


def test_columns_that_are_not_read_may_repeat(tmp_path):
    given = {"text_column": "Name", "label_column": "Kind"}
    assert find_columns(tmp_path, **given) == {}


@pytest.mark.parametrize(
    ("given", "repeated"),
    [
        ({"text_column": "Name", "label_column": "Labels"}, "Labels"),
        ({"text_column": "comment", "label_column": "Kind"}, "comment"),
        # A guess is no better than a flag.
        ({"label_column": "Kind"}, "comment"),
    ],
)
def test_columns_that_are_read_may_not_repeat(tmp_path, given, repeated):
    with pytest.raises(ValueError, match=f"are named '{repeated}'"):
        find_columns(tmp_path, **given)
