"""Questions in tables, with the columns and notations that tools write.

data/squad/cells.py reads their answers.
"""

import csv
import io
import json

import pytest

from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file
from data.tables.layout_options import LayoutOptions

CONTEXT = "Anna's inn has nine rooms. The fair lasts two days."
QUESTION = "How many rooms has the inn?"


def write_table(path, row, *more):
    """Writes rows, {column: cell}, as CSV; returns the path."""
    file = io.StringIO()
    writer = csv.DictWriter(file, row.keys())
    writer.writeheader()
    writer.writerows([row, *more])
    path.write_text(file.getvalue())
    return path


def read(path, **options):
    """Returns (text, first character) of the answers that a table trains."""
    file = read_squad_file(path)
    examples = read_squad_examples(file, True, **options)
    return [
        (example.orig_answer_text, example.answer_start) for example in examples
    ]


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
def test_answers_in_every_notation(tmp_path, columns, is_v2):
    row = {"question": QUESTION, "context": CONTEXT, **columns}
    path = write_table(tmp_path / "squad.csv", row)
    assert read(path, version_2_with_negative=is_v2) == [("nine", 15)]


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
        write_table(tmp_path / "squad.csv", row)
    ).questions
    assert [answer["text"] for answer in qa["answers"]] == ["nine", "two days"]


@pytest.mark.parametrize(
    "answers",
    [
        "{'text': array(['nine', ...], dtype=object)}",
        "{'text': ['nine'",
        "{'text': ['nine'], 'answer_start': [15, 16]}",
        "{'text': __import__('os')}",
        "{'answer_start': [15]}",
        "[9]",
    ],
)
def test_a_cell_that_cannot_be_read_is_shown(tmp_path, answers):
    row = {"question": QUESTION, "context": CONTEXT, "answers": answers}
    path = write_table(tmp_path / "squad.csv", row)
    with pytest.raises(ValueError, match=r"squad\.csv, line 2: ") as error:
        read(path)
    message = str(error.value)
    assert (
        "nine" in message
        or "9" in message
        or "answer_start" in message
        or ("__import__" in message)
    )


@pytest.mark.parametrize(
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
def test_questions_without_an_answer_need_the_flag_of_v2(tmp_path, columns):
    row = {"question": QUESTION, "context": CONTEXT, **columns}
    path = write_table(tmp_path / "squad.csv", row)
    assert read(path, version_2_with_negative=True) == [("", -1)]
    # Without the flag, as for SQuAD's own files.
    with pytest.raises(ValueError, match="set --version_2_with_negative"):
        read(path)


@pytest.mark.parametrize("start", [15.0, "15", "15.0"])
def test_positions_that_are_floats_in_json_are_read(tmp_path, start):
    answers = [{"text": "nine", "answer_start": start}]
    qa = {"id": "a", "question": QUESTION, "answers": answers}
    content = {"data": [{"paragraphs": [{"context": CONTEXT, "qas": [qa]}]}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(content))
    assert read(path) == [("nine", 15)]


@pytest.mark.parametrize("start", [15.5, "15th", True, [15]])
def test_a_position_that_is_no_whole_number_is_an_error(tmp_path, start):
    answers = [{"text": "nine", "answer_start": start}]
    qa = {"id": "a", "question": QUESTION, "answers": answers}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps([{"context": CONTEXT, "qas": [qa]}]))
    with pytest.raises(ValueError, match=r"'answer_start' of type int"):
        read(path)


def test_an_answer_with_brackets_of_the_passage_is_a_text(tmp_path):
    context = "The [MASK] token hides a word."
    row = {"question": "q", "context": context, "answer": "[MASK] token"}
    path = write_table(tmp_path / "squad.csv", row)
    assert read(path) == [("[MASK] token", 4)]


@pytest.mark.parametrize("column", ["answer", "answer_text", "text"])
@pytest.mark.parametrize("start", [15, 15.0, "15.0", None])
def test_json_lines_may_have_the_columns_of_tables(tmp_path, column, start):
    row = {"question": QUESTION, "context": CONTEXT, "answer_start": start}
    path = tmp_path / "squad.jsonl"
    path.write_text(json.dumps({**row, column: "nine"}) + "\n")
    assert read(path) == [("nine", 15)]
    path.write_text(json.dumps({**row, column: ""}) + "\n")
    assert read(path, version_2_with_negative=True) == [("", -1)]


def test_parquet_has_the_columns_of_the_hub(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    row = {
        "id": "a",
        "question": QUESTION,
        "context": CONTEXT,
        "answers": {"text": ["nine"], "answer_start": [15]},
    }
    path = tmp_path / "squad.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    assert read(path) == [("nine", 15)]


def test_a_table_without_answers_can_only_be_answered(tmp_path):
    row = {"question": QUESTION, "context": CONTEXT, "document_id": "7"}
    path = write_table(tmp_path / "squad.csv", row)
    (example,) = read_squad_examples(read_squad_file(path), False)
    assert (example.qas_id, example.question_text) == ("2", QUESTION)
    with pytest.raises(ValueError, match="columns question, context, answer"):
        read(path)


def test_quotes_after_a_backslash_are_read(tmp_path):
    """Spark writes them so."""
    path = tmp_path / "squad.csv"
    path.write_text(
        "question,context,answer\n"
        'How many?,"They say \\"Anna has nine rooms, and eels.\\"",nine\n'
        "Where?,The inn is in Oslo.,Oslo\n"
    )
    questions = read_squad_file(path).questions
    assert questions[0][0] == 'They say "Anna has nine rooms, and eels."'
    assert read(path) == [("nine", 19), ("Oslo", 14)]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_file_may_be_a_list_or_one_entry_a_line(tmp_path, indent):
    entry = {"question": QUESTION, "context": CONTEXT, "answer": "nine"}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps([entry | {"id": "7"}], indent=indent))
    assert read(path) == [("nine", 15)]
    path.write_text(f"{json.dumps(entry)}\n{json.dumps(entry)}\n")
    assert read(path) == [("nine", 15)] * 2


def test_the_flags_of_tables_are_read(tmp_path):
    path = tmp_path / "squad.csv"
    text = "question|context|answer\nWo?|Das Caf\xe9 ist hier.|Caf\xe9\n"
    path.write_bytes(text.encode("cp1252"))
    with pytest.raises(ValueError, match="--encoding=cp1252"):
        read_squad_file(path)
    layout = LayoutOptions(encoding="cp1252").layout()
    ((context, _, _),) = read_squad_file(path, layout).questions
    assert context == "Das Caf\xe9 ist hier."
