"""Answers in the cells of tables, in the notations that tools write."""

import pytest

from data.squad import answer_notations
from data.squad.squad_questions import read_squad_file
from tests.support.squad.squad_passages import read_answers, write_questions

CONTEXT = "Anna's inn has nine rooms. The fair lasts two days."
QUESTION = "How many rooms has the inn?"


NOTATIONS = [
    # The hub's column, from pandas and from datasets.
    {
        "answers": "{'text': array(['nine'], dtype=object), "
        "'answer_start': array([15], dtype=int32)}"
    },
    {
        "answers": "{'text': array(['nine'],\n      dtype=object),\n "
        "'answer_start': array([15])}"
    },
    {"answers": "{'text': ['nine'], 'answer_start': [15]}"},
    {"answers": "{'text': ['nine'], 'answer_start': [np.int64(15)]}"},
    {"answers": '{"text": ["nine"], "answer_start": [15]}'},
    {"answers": '{"answer_start": [15.0], "text": ["nine"]}'},
    {"answers": "[{'text': 'nine', 'answer_start': 15}]"},
    {"answers": "['nine']"},
    {"answers": "nine"},
    {"answers": "['nine']", "answer_start": ""},
    # Flat columns.
    {"answers.text": "['nine']", "answers.answer_start": "[15]"},
    # haystack's.
    {"text": "nine", "answer_start": "15", "answer_category": ""},
    {"answer_text": "nine", "answer_start": "15", "is_impossible": "False"},
    # pandas' floats.
    {"answer": "nine", "answer_start": "15.0"},
    {"answer": "nine", "answer_start": "15", "text": "something else"},
]


@pytest.mark.parametrize("columns", NOTATIONS)
@pytest.mark.parametrize("is_v2", [False, True])
def test_answers_are_read_in_every_notation(tmp_path, columns, is_v2):
    row = {"question": QUESTION, "context": CONTEXT, **columns}
    path = write_questions(tmp_path / "squad.csv", row)
    assert read_answers(path, version_2_with_negative=is_v2) == [("nine", 15)]


@pytest.mark.parametrize(
    "answers",
    [
        "['nine' 'two days']",
        "{'text': array(['nine', 'two days'], dtype=object), "
        "'answer_start': array([15, 43], dtype=int32)}",
        '["nine", "two days"]',
    ],
)
def test_several_answers_stay_several(tmp_path, answers):
    row = {"question": QUESTION, "context": CONTEXT, "answers": answers}
    ((_, qa, _),) = read_squad_file(
        write_questions(tmp_path / "squad.csv", row)
    ).questions
    assert [answer["text"] for answer in qa["answers"]] == ["nine", "two days"]


@pytest.mark.parametrize(
    ("answers", "shown"),
    [
        ("{'text': array(['nine', ...], dtype=object)}", "nine"),
        ("{'text': ['nine'", "nine"),
        ("{'text': ['nine'], 'answer_start': [15, 16]}", "nine"),
        ("{'text': __import__('os')}", "__import__"),
        ("{'answer_start': [15]}", "answer_start"),
        ("[9]", "9"),
    ],
)
def test_a_cell_that_cannot_be_read_is_shown(tmp_path, answers, shown):
    row = {"question": QUESTION, "context": CONTEXT, "answers": answers}
    path = write_questions(tmp_path / "squad.csv", row)
    with pytest.raises(ValueError, match=r"squad\.csv, line 2: ") as error:
        read_answers(path)
    assert shown in str(error.value)


UNANSWERED = pytest.mark.parametrize(
    "columns",
    [
        {"answer": "", "answer_start": ""},
        {"answer": "", "answer_start": "-1.0"},
        {"answer_text": "nine", "answer_start": "15", "is_impossible": "True"},
        {"answers": "{'text': [], 'answer_start': []}"},
        {
            "answers": "{'text': array([], dtype=object), "
            "'answer_start': array([], dtype=int32)}"
        },
        {"answers": "[]"},
    ],
)


@UNANSWERED
def test_questions_without_an_answer_are_read_with_the_flag_of_v2(
    tmp_path, columns
):
    row = {"question": QUESTION, "context": CONTEXT, **columns}
    path = write_questions(tmp_path / "squad.csv", row)
    assert read_answers(path, version_2_with_negative=True) == [("", -1)]


@UNANSWERED
def test_questions_without_an_answer_need_the_flag_of_v2(tmp_path, columns):
    """SQuAD's own files need the flag too."""
    row = {"question": QUESTION, "context": CONTEXT, **columns}
    path = write_questions(tmp_path / "squad.csv", row)
    with pytest.raises(ValueError, match="set --version_2_with_negative"):
        read_answers(path)


def test_an_answer_with_brackets_of_the_passage_is_a_text(tmp_path):
    context = "The [MASK] token hides a word."
    row = {"question": "q", "context": context, "answer": "[MASK] token"}
    path = write_questions(tmp_path / "squad.csv", row)
    assert read_answers(path) == [("[MASK] token", 4)]


def test_a_cell_that_is_a_part_of_the_passage_is_a_text():
    context = "The year [1895] was cold."
    assert answer_notations.parse_cell("[1895]", context) == "[1895]"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (48.0, 48),
        ("48", 48),
        ("48.0", 48),
        ("", None),
        ("NaN", None),
        (float("nan"), None),
    ],
)
def test_a_whole_number_may_be_written_as_pandas_does(value, number):
    assert answer_notations.parse_whole_number(value) == number


@pytest.mark.parametrize("value", [15.5, "15th", [15]])
def test_parse_whole_number_returns_other_values_unchanged(value):
    assert answer_notations.parse_whole_number(value) == value


def test_a_row_without_a_column_of_answers_has_none():
    row = {"question": QUESTION, "context": CONTEXT}
    assert answer_notations.parse_row_answers(row) == {}
