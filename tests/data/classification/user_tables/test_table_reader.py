"""Which rows of a table are examples, and what is said of the others.

As in all test_table_reader_*.py, `labeled_tables` lets a task of tables
create the TableReader, by the flags that a user sets.
"""

import pytest

from tests.support.tables.labeled_tables import (
    create_processor,
    labels_of,
    open_task_processor,
    read_examples,
    write_train_set,
)


def test_a_csv_may_have_quotes_a_byte_order_mark_and_dos_line_ends(tmp_path):
    text = (
        '\ufefflabel,id,text\r\nno,1,"a, ""b"""\r\n\r\n'
        'yes,2,"c\nd"\r\nno,3,café'
    )
    assert read_examples(tmp_path, "train.csv", text) == [
        ("train-1", 'a, "b"', None, "no"),
        ("train-2", "c\nd", None, "yes"),
        ("train-3", "café", None, "no"),
    ]


# A quote opens in one line and closes in another.
QUOTED_TEXT = 'text\tlabel\n"a\tyes\nb"\tno\nc\tyes\n'


def test_a_quote_that_contains_the_next_lines_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="line 2: a quoted cell"):
        read_examples(tmp_path, "train.tsv", QUOTED_TEXT)


def test_without_quoting_a_quote_is_a_letter(tmp_path):
    first, *_ = read_examples(tmp_path, "train.tsv", QUOTED_TEXT, quoting=False)
    assert first == ("train-1", '"a', None, "yes")


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
    with pytest.raises(ValueError, match=culprit):
        read_examples(tmp_path, name, text, labels=["x", "y"])


# Rows of a table without names of columns, and the flags that read them.
ROWS = "a,yes\nb,no\n" * 5


NUMBERED_COLUMNS = {"text_column": "1", "label_column": "2", "delimiter": ","}


def test_the_first_row_is_an_example_where_columns_have_numbers(tmp_path):
    sets = write_train_set(tmp_path, ROWS, **NUMBERED_COLUMNS)
    assert sets.read_labels() == ["no", "yes"]


def test_a_row_of_column_names_is_no_example(tmp_path):
    sets = write_train_set(tmp_path, f"text,label\n{ROWS}", **NUMBERED_COLUMNS)
    with pytest.raises(ValueError, match=r"line 1 .*'label'"):
        sets.read_labels()


def test_a_train_set_without_the_column_of_the_labels_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="'label'"):
        read_examples(tmp_path, "train.csv", "text\na\n")


def test_a_test_set_may_lack_the_column_of_the_labels(tmp_path):
    options = {"labels": ["x", "y"]}
    (example,) = read_examples(tmp_path, "test.csv", "text\na\n", **options)
    assert example == ("test-1", "a", None, None)


def test_rows_of_a_data_file_are_numbered_as_a_spreadsheet_does(tmp_path):
    path = tmp_path / "table.csv"
    rows = "".join(f"text {row},{'xy'[row % 2]}\n" for row in range(40))
    path.write_text(f"text,label\n{rows}")
    processor = create_processor(tmp_path, data_file=str(path))
    examples = [*processor.sets.read("train"), *processor.sets.read("dev")]
    guid_of_text = {example.text_a: example.guid for example in examples}
    assert guid_of_text["text 0"] == "row 2"
    assert guid_of_text["text 39"] == "row 41"


def test_the_log_counts_labels_in_another_spelling(tmp_path, caplog):
    caplog.set_level("INFO")
    read_examples(tmp_path, "train.csv", "text,label\na, x\nb,x\nc,y \n")
    expected = "2 labels brought to one spelling of blanks and accents"
    assert f"{tmp_path / 'train.csv'}: {expected}" in caplog.messages


def test_nothing_is_logged_of_a_set_that_is_complete(tmp_path, caplog):
    read_examples(tmp_path, "train.csv", "text,label\na,x\nb,y\n")
    assert not caplog.messages


LABELED_ROWS = [
    {"text": text, "label": label}
    for text, label in zip("abcdef", "xyxyxy", strict=True)
]


INCOMPLETE_ROWS = [
    {"text": None, "label": "x"},
    {"text": " ", "label": "x"},
    {"text": "\u200b\ufeff", "label": "x"},
    {"label": "x"},
    {"text": "g", "label": None},
    {"text": "h", "label": ""},
    {"text": "i", "label": []},
    {"text": "j", "label": float("nan")},
    {"text": "k"},
]


ALL_ROWS = [LABELED_ROWS[0], *INCOMPLETE_ROWS, *LABELED_ROWS[1:]]


for_labeled_sets = pytest.mark.parametrize(
    ("name", "labels"), [("train.jsonl", None), ("dev.jsonl", ["x", "y"])]
)


@for_labeled_sets
def test_rows_without_text_or_label_are_left_out(tmp_path, name, labels):
    examples = read_examples(tmp_path, name, ALL_ROWS, labels=labels)
    kept = [(text, label) for _, text, _, label in examples]
    assert kept == [(row["text"], row["label"]) for row in LABELED_ROWS]


@for_labeled_sets
def test_the_log_counts_the_rows_that_are_left_out(
    tmp_path, caplog, name, labels
):
    labels_of(tmp_path, name, ALL_ROWS, labels=labels)
    assert caplog.messages[-1] == (
        f"{tmp_path / name}: 4 rows without text left out, "
        "5 rows without a label left out"
    )


def test_a_pair_of_which_one_text_is_empty_is_kept(tmp_path):
    text = "text,question,label\na,,x\n,b,y\n,,x\n"
    options = {"text_b_column": "question"}
    pairs = [
        (text_a, text_b)
        for _, text_a, text_b, _ in read_examples(
            tmp_path, "train.csv", text, **options
        )
    ]
    assert pairs == [("a", ""), ("", "b")]


def test_rows_of_a_test_set_are_all_kept(tmp_path):
    actual = labels_of(tmp_path, "test.jsonl", ALL_ROWS, labels=["x", "y"])
    assert actual == [*"xxxxx", *[None] * 5, *"yxyxy"]


PRODIGY_ROWS = [
    {"text": f"t{i}", "label": "xy"[i % 2], "answer": answer}
    for i, answer in enumerate(["accept", "reject", "accept", "ignore"])
]


def test_only_accepted_rows_of_prodigy_are_read(tmp_path, caplog):
    assert labels_of(tmp_path, "train.jsonl", PRODIGY_ROWS) == ["x", "x"]
    assert "2 rows left out" in caplog.text


def test_the_answers_of_prodigy_may_be_the_labels(tmp_path):
    options = {"label_column": "answer"}
    actual = labels_of(tmp_path, "train.jsonl", PRODIGY_ROWS, **options)
    assert actual == ["accept", "reject", "accept", "ignore"]


def read_set(folder, name, text, task_name, **flags):
    """Writes the table of a set, and returns its texts and labels."""
    (folder / f"{name}.csv").write_text(text)
    examples = open_task_processor(task_name, folder, **flags).sets.read(name)
    return [
        (example.text_a, example.text_b, example.label) for example in examples
    ]


def test_queries_and_passages_are_found_by_their_names(tmp_path):
    text = "query,passage,relevance\na,b,1\nc,d,0\n"
    actual = read_set(tmp_path, "dev", text, "ranking")
    assert actual == [("a", "b", 1.0), ("c", "d", 0.0)]


def test_a_flag_names_the_column_of_the_queries(tmp_path):
    text = "passage,q,relevance\nb,a,\n"
    actual = read_set(tmp_path, "test", text, "ranking", text_column="q")
    assert actual == [("a", "b", None)]


def test_a_name_that_is_a_default_elsewhere_counts_if_it_is_set(tmp_path):
    text = "query,text,label\na,b,1\na,c,0\n"
    flags = {"text_b_column": "text", "label_column": "label"}
    actual = read_set(tmp_path, "dev", text, "ranking", **flags)
    assert actual[0] == ("a", "b", 1.0)


def test_a_column_of_scores_that_is_not_there_is_named(tmp_path):
    args = "dev", "text,text_b,label\na,b,1\nc,d,2\n", "embedding"
    with pytest.raises(ValueError, match="there is no column 'scroe'"):
        read_set(tmp_path, *args, label_column="scroe")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("text,text_b\na,b\nc,d\n", [None, None]),
        ("text,text_b,score\na,b,2\nc,d,5\n", [2.0, 5.0]),
    ],
)
def test_scores_may_be_missing(tmp_path, text, labels):
    actual = read_set(tmp_path, "train", text, "embedding")
    assert [label for _, _, label in actual] == labels


SCORED = "text,text_b,score\na,b,2\nc,d,\ne,f,4\n"


def test_pairs_with_a_missing_score_are_left_out(tmp_path, caplog):
    actual = read_set(tmp_path, "train", SCORED, "embedding")
    assert actual == [("a", "b", 2.0), ("e", "f", 4.0)]
    assert "1 rows without a label left out" in caplog.text


def test_pairs_of_a_test_set_are_all_kept(tmp_path):
    assert len(read_set(tmp_path, "test", SCORED, "embedding")) == 3


def test_passages_with_a_missing_relevance_are_left_out(tmp_path):
    text = "query,passage,relevance\na,b,1\nc,d,\n"
    assert read_set(tmp_path, "dev", text, "ranking") == [("a", "b", 1.0)]


def test_a_relevance_that_is_not_a_number_is_an_error(tmp_path):
    text = "query,passage,relevance\na,b,1\nc,d,high\n"
    with pytest.raises(ValueError, match=r"line 3.*'high'"):
        read_set(tmp_path, "dev", text, "ranking")


@pytest.mark.parametrize("name", ["is_duplicate", "label", "Score"])
def test_scores_in_another_column_are_asked_for(tmp_path, name):
    """Otherwise all pairs would be trained as similar ones."""
    text = f"text,text_b,{name}\na,b,1\nc,d,0\n"
    args = tmp_path, "train", text, "embedding"
    with pytest.raises(ValueError, match=f"--label_column.*{name}"):
        read_set(*args)
    actual = read_set(*args, label_column=name)
    assert [label for *_, label in actual] == [1, 0]
    assert read_set(*args, label_column="")[1] == ("c", "d", None)
