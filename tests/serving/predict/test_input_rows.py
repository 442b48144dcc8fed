"""The requests in files, from the columns that a user names."""

import pytest

from data.tables.table_layout import LayoutOptions
from serving.predict.input_rows import read_input_rows
from serving.predict.request_columns import RequestColumns
from serving.text_tasks.classify import CLASSIFY
from serving.text_tasks.pretrained import FILL_MASK, NEXT_SENTENCE
from serving.text_tasks.tag import TAG
from serving.text_tasks.tokenize import without_pairs


def read_checked(path, text_task, *columns):
    """Returns the requests of a file, checked."""
    chosen = RequestColumns.choose(text_task, columns)
    input_rows = [*read_input_rows([str(path)], chosen)]
    for input_row in input_rows:
        text_task.parse_request(input_row.request)
    return input_rows


PAIR = {"text_a": "b", "text_b": "c"}


@pytest.mark.parametrize(
    ("name", "text", "text_task", "columns", "expected"),
    [
        ("a.csv", "id,text\n7,b\n", CLASSIFY, [], {"id": "7", "text": "b"}),
        ("a.csv", "text;review;2\nx;b;c\n", CLASSIFY, ["review", "2"], PAIR),
        ("a.tsv", "c\tb\n", NEXT_SENTENCE, ["2", "1"], PAIR),
        (
            "a.csv",
            '\ufefftext\n"two\nlines, ""quoted"""\n',
            CLASSIFY,
            [],
            {"text": 'two\nlines, "quoted"'},
        ),
        ("a.csv", "words\nb c\n", TAG, [], {"words": ["b", "c"]}),
        ("a.csv", "w\nb c\n", TAG, ["w"], {"text": "b c"}),
        # A usual name, as in training.
        ("a.csv", "x,Body\n1,b\n", TAG, [], {"x": "1", "text": "b"}),
        (
            "a.jsonl",
            '{"id": 7, "q": "b", "text": 1}',
            CLASSIFY,
            ["q"],
            {"id": 7, "text_a": "b"},
        ),
        ("a", '{"text": "b", "more": 1}', TAG, [], {"text": "b", "more": 1}),
        ("a", "b [MASK]\n", FILL_MASK, [], {"text": "b [MASK]"}),
        ("a.txt", "b\n", CLASSIFY, [], {"text": "b"}),
    ],
)
def test_columns_are_the_fields_of_a_request(
    tmp_path, name, text, text_task, columns, expected
):
    (tmp_path / name).write_text(text)
    (input_row,) = read_checked(tmp_path / name, text_task, *columns)
    assert (input_row.request, input_row.error) == (expected, None)


@pytest.mark.parametrize("kind", ["columns", "trained_columns"])
@pytest.mark.parametrize("names", [("title", "text"), ("text_b", "text_a")])
def test_columns_may_be_named_like_other_fields(tmp_path, names, kind):
    (tmp_path / "a.csv").write_text(f"{','.join(names)}\nb,c\n")
    arguments = {kind: names}
    columns = RequestColumns.choose(CLASSIFY, **arguments)
    (input_row,) = read_input_rows([str(tmp_path / "a.csv")], columns)
    assert input_row.request == PAIR


@pytest.fixture
def single_texts(tmp_path):
    """(a task of single texts, the file of a text, and of a pair)."""
    path = tmp_path / "a.csv"
    path.write_text("text,text_b\na,\na,b\n")
    return without_pairs(CLASSIFY), [str(path)]


def test_a_second_text_is_not_for_a_model_of_single_texts(single_texts):
    text_task, paths = single_texts
    first, second = read_input_rows(paths, RequestColumns(text_task))
    text_task.parse_request(first.request)
    with pytest.raises(ValueError, match="'text_b'"):
        text_task.parse_request(second.request)


def test_a_second_column_is_not_for_a_model_of_single_texts(single_texts):
    text_task, _ = single_texts
    with pytest.raises(ValueError, match="--text_b_column=more"):
        RequestColumns.choose(text_task, ["text", "more"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("A.CSV", "id,text\n0,b c\n1,d; e\n"),
        ("a.csv", "id|text\n0|b c\n1|d; e\n"),
        ("a.json", '[{"id": "0", "text": "b c"}, {"id": "1", "text": "d; e"}]'),
        ("a.json", '{"data": [{"text": "b c"},\n {"text": "d; e"}]}'),
    ],
)
def test_every_row_of_a_table_is_a_request(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    input_rows = read_checked(tmp_path / name, TAG)
    assert [input_row.request["text"] for input_row in input_rows] == [
        "b c",
        "d; e",
    ]


def test_a_table_without_a_header_needs_the_flag_to_be_read_completely(
    tmp_path,
):
    (tmp_path / "a.csv").write_text("The boat left\nA ship waits\nThe inn\n")
    with pytest.raises(ValueError, match="--nohas_header"):
        read_checked(tmp_path / "a.csv", TAG)
    layout = LayoutOptions(has_header=False).layout(has_header=None)
    input_rows = read_input_rows(
        [str(tmp_path / "a.csv")], RequestColumns(TAG), layout
    )
    texts = [input_row.request["text"] for input_row in input_rows]
    assert texts == ["The boat left", "A ship waits", "The inn"]
    assert len(read_checked(tmp_path / "a.csv", TAG, "1")) == 3


def test_the_columns_of_the_training_tell_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("Nr,Kommentar\na,b c\n")
    paths = [str(tmp_path / "a.csv")]
    with pytest.raises(ValueError, match="--has_header"):
        [*read_input_rows(paths, RequestColumns(TAG))]
    columns = RequestColumns(TAG, trained={"text": "Kommentar"})
    (input_row,) = read_input_rows(paths, columns)
    assert input_row.request == {"Nr": "a", "text": "b c"}
