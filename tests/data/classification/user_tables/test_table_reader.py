"""Which rows of a table become examples, and what the log says of the others.

test_table_reader_labels.py tests the labels of the rows.
"""

import json

import pytest

from data.classification.classification_examples import InputExample
from tests.support.tables.labeled_tables import open_tables


def test_a_csv_may_have_quotes_a_byte_order_mark_and_dos_line_ends(tmp_path):
    text = (
        '\ufefflabel,id,text\r\nno,1,"a, ""b"""\r\n\r\n'
        'yes,2,"c\nd"\r\nno,3,café'
    )
    (tmp_path / "train.csv").write_bytes(text.encode())
    assert open_tables(tmp_path).sets.read("train") == [
        InputExample("train-1", 'a, "b"', label="no"),
        InputExample("train-2", "c\nd", label="yes"),
        InputExample("train-3", "café", label="no"),
    ]


# A quote opens in one line and closes in another.
QUOTED_TEXT = 'text\tlabel\n"a\tyes\nb"\tno\nc\tyes\n'


def test_a_quote_that_contains_the_next_lines_is_an_error(tmp_path):
    (tmp_path / "train.tsv").write_text(QUOTED_TEXT)
    with pytest.raises(ValueError, match="line 2: a quoted cell"):
        open_tables(tmp_path).sets.read("train")


def test_without_quoting_a_quote_is_a_letter(tmp_path):
    (tmp_path / "train.tsv").write_text(QUOTED_TEXT)
    examples = open_tables(tmp_path, quoting=False).sets.read("train")
    assert [(example.text_a, example.label) for example in examples] == [
        ('"a', "yes"),
        ('b"', "no"),
        ("c", "yes"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "culprit"),
    [
        (
            "dev.csv",
            "text,label\na,x\nb,q",
            "line 3, column 'label': .*'q'",
        ),
        ("dev.csv", "text,label\na, ", "dev.csv contains no example"),
        ("dev.csv", "text,label\n", "dev.csv contains no example"),
        ("dev.jsonl", '{"text": 1, "label": "x"}', "line 1, column 'text'"),
    ],
)
def test_an_error_names_the_file_or_the_line(tmp_path, name, text, culprit):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=culprit):
        open_tables(tmp_path, labels=["x", "y"]).sets.read("dev")


def test_the_first_row_is_an_example_where_columns_have_numbers(tmp_path):
    (tmp_path / "train.csv").write_text("a,yes\nb,no\nc,yes\nd,no\n")
    processor = open_tables(
        tmp_path, text_column="1", label_column="2", delimiter=","
    )
    first, *_ = processor.sets.read("train")
    assert (first.text_a, first.label) == ("a", "yes")


def test_a_row_of_column_names_is_no_example(tmp_path):
    rows = "a,yes\nb,no\n" * 5
    (tmp_path / "train.csv").write_text(f"text,label\n{rows}")
    processor = open_tables(
        tmp_path, text_column="1", label_column="2", delimiter=","
    )
    with pytest.raises(ValueError, match=r"line 1 .*'label'"):
        processor.sets.read_labels()


def test_a_train_set_without_the_column_of_the_labels_is_an_error(tmp_path):
    (tmp_path / "train.csv").write_text("text\na\n")
    with pytest.raises(ValueError, match="'label'"):
        open_tables(tmp_path).sets.read("train")


def test_a_test_set_may_lack_the_column_of_the_labels(tmp_path):
    (tmp_path / "test.csv").write_text("text\na\n")
    (example,) = open_tables(tmp_path, labels=["x", "y"]).sets.read("test")
    assert (example.text_a, example.label) == ("a", None)


def test_rows_of_a_data_file_are_numbered_as_a_spreadsheet_does(tmp_path):
    path = tmp_path / "table.csv"
    rows = "".join(f"text {row},{'xy'[row % 2]}\n" for row in range(40))
    path.write_text(f"text,label\n{rows}")
    sets = open_tables(None, data_file=path).sets
    examples = [*sets.read("train"), *sets.read("dev")]
    guid_of_text = {example.text_a: example.guid for example in examples}
    assert guid_of_text["text 0"] == "row 2"
    assert guid_of_text["text 39"] == "row 41"


def test_the_log_counts_labels_in_another_spelling(tmp_path, caplog):
    caplog.set_level("INFO")
    (tmp_path / "train.csv").write_text("text,label\na, x\nb,x\nc,y \n")
    open_tables(tmp_path).sets.read("train")
    assert "train.csv: 2 labels" in caplog.text


def test_nothing_is_logged_of_a_set_that_is_complete(tmp_path, caplog):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    open_tables(tmp_path).sets.read("train")
    assert not caplog.messages


# Four rows without a text and five without a label, between two examples.
ROWS = [
    {"text": "a", "label": "x"},
    {"text": None, "label": "x"},
    {"text": " ", "label": "x"},
    {"text": "\u200b\ufeff", "label": "x"},
    {"label": "x"},
    {"text": "g", "label": None},
    {"text": "h", "label": ""},
    {"text": "i", "label": []},
    {"text": "j", "label": float("nan")},
    {"text": "k"},
    {"text": "b", "label": "y"},
]


@pytest.mark.parametrize(
    ("name", "labels"), [("train", None), ("dev", ["x", "y"])]
)
def test_rows_without_text_or_label_are_left_out(
    tmp_path, caplog, name, labels
):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    examples = open_tables(tmp_path, labels=labels).sets.read(name)
    assert [(example.text_a, example.label) for example in examples] == [
        ("a", "x"),
        ("b", "y"),
    ]
    assert "4 rows without text" in caplog.text
    assert "5 rows without a label" in caplog.text


def test_rows_of_a_test_set_are_all_kept(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    examples = open_tables(tmp_path, labels=["x", "y"]).sets.read("test")
    labels = [example.label for example in examples]
    assert labels == [*"xxxxx", None, None, None, None, None, "y"]


def test_a_pair_of_which_one_text_is_empty_is_kept(tmp_path):
    (tmp_path / "train.csv").write_text(
        "text,question,label\na,,x\n,b,y\n,,x\n"
    )
    processor = open_tables(tmp_path, text_b_column="question")
    examples = processor.sets.read("train")
    pairs = [(example.text_a, example.text_b) for example in examples]
    assert pairs == [("a", ""), ("", "b")]


# What an annotator decided in Prodigy about four rows.
PRODIGY_LINES = """
{"text": "a", "label": "x", "answer": "accept"}
{"text": "b", "label": "y", "answer": "reject"}
{"text": "c", "label": "x", "answer": "accept"}
{"text": "d", "label": "y", "answer": "ignore"}
"""


def test_only_accepted_rows_of_prodigy_are_read(tmp_path, caplog):
    (tmp_path / "train.jsonl").write_text(PRODIGY_LINES)
    examples = open_tables(tmp_path).sets.read("train")
    assert [example.text_a for example in examples] == ["a", "c"]
    assert "2 rows left out" in caplog.text


def test_the_answers_of_prodigy_may_be_the_labels(tmp_path):
    (tmp_path / "train.jsonl").write_text(PRODIGY_LINES)
    processor = open_tables(tmp_path, label_column="answer")
    labels = [example.label for example in processor.sets.read("train")]
    assert labels == ["accept", "reject", "accept", "ignore"]


def test_queries_and_passages_are_found_by_their_names(tmp_path):
    (tmp_path / "dev.csv").write_text("query,passage,relevance\na,b,1\nc,d,0\n")
    first, second = open_tables(tmp_path, "ranking").sets.read("dev")
    assert (first.text_a, first.text_b, first.label) == ("a", "b", 1.0)
    assert (second.text_a, second.text_b, second.label) == ("c", "d", 0.0)


def test_a_flag_names_the_column_of_the_queries(tmp_path):
    (tmp_path / "test.csv").write_text("passage,q,relevance\nb,a,\n")
    processor = open_tables(tmp_path, "ranking", text_column="q")
    (example,) = processor.sets.read("test")
    assert (example.text_a, example.text_b, example.label) == ("a", "b", None)


def test_a_name_that_is_a_default_elsewhere_counts_if_it_is_set(tmp_path):
    (tmp_path / "dev.csv").write_text("query,text,label\na,b,1\na,c,0\n")
    flags = {"text_b_column": "text", "label_column": "label"}
    first, _ = open_tables(tmp_path, "ranking", **flags).sets.read("dev")
    assert (first.text_a, first.text_b, first.label) == ("a", "b", 1.0)


def test_a_column_of_scores_that_is_not_there_is_named(tmp_path):
    (tmp_path / "dev.csv").write_text("text,text_b,label\na,b,1\nc,d,2\n")
    processor = open_tables(tmp_path, "embedding", label_column="scroe")
    with pytest.raises(ValueError, match="there is no column 'scroe'"):
        processor.sets.read("dev")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("text,text_b\na,b\nc,d\n", [None, None]),
        ("text,text_b,score\na,b,2\nc,d,5\n", [2.0, 5.0]),
    ],
)
def test_scores_may_be_missing(tmp_path, text, labels):
    (tmp_path / "train.csv").write_text(text)
    examples = open_tables(tmp_path, "embedding").sets.read("train")
    assert [example.label for example in examples] == labels


def test_pairs_with_a_missing_score_are_left_out(tmp_path, caplog):
    (tmp_path / "train.csv").write_text(
        "text,text_b,score\na,b,2\nc,d,\ne,f,4\n"
    )
    examples = open_tables(tmp_path, "embedding").sets.read("train")
    assert [example.text_a for example in examples] == ["a", "e"]
    assert "1 rows without a label" in caplog.text


def test_pairs_of_a_test_set_are_all_kept(tmp_path):
    (tmp_path / "test.csv").write_text(
        "text,text_b,score\na,b,2\nc,d,\ne,f,4\n"
    )
    examples = open_tables(tmp_path, "embedding").sets.read("test")
    assert [example.label for example in examples] == [2.0, None, 4.0]


def test_passages_with_a_missing_relevance_are_left_out(tmp_path):
    (tmp_path / "dev.csv").write_text("query,passage,relevance\na,b,1\nc,d,\n")
    (example,) = open_tables(tmp_path, "ranking").sets.read("dev")
    assert (example.text_a, example.label) == ("a", 1.0)


def test_a_relevance_that_is_not_a_number_is_an_error(tmp_path):
    (tmp_path / "dev.csv").write_text(
        "query,passage,relevance\na,b,1\nc,d,high\n"
    )
    with pytest.raises(ValueError, match=r"line 3.*'high'"):
        open_tables(tmp_path, "ranking").sets.read("dev")


@pytest.mark.parametrize("column", ["is_duplicate", "label", "Score"])
def test_scores_in_another_column_are_asked_for(tmp_path, column):
    """Otherwise all pairs would be trained as similar ones."""
    (tmp_path / "train.csv").write_text(f"text,text_b,{column}\na,b,1\nc,d,0\n")
    with pytest.raises(ValueError, match=f"--label_column.*{column}"):
        open_tables(tmp_path, "embedding").sets.read("train")


@pytest.mark.parametrize(
    ("label_column", "labels"), [("label", [1.0, 0.0]), ("", [None, None])]
)
def test_a_flag_says_whether_another_column_contains_the_scores(
    tmp_path, label_column, labels
):
    (tmp_path / "train.csv").write_text("text,text_b,label\na,b,1\nc,d,0\n")
    processor = open_tables(tmp_path, "embedding", label_column=label_column)
    examples = processor.sets.read("train")
    assert [example.label for example in examples] == labels
