"""Questions in tables, as other tools write them."""

import json

import pytest

from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file
from data.tables.table_layout import LayoutOptions
from tests.support.squad.squad_passages import read_answers, write_questions

CONTEXT = "Anna's inn has nine rooms. The fair lasts two days."
QUESTION = "How many rooms has the inn?"


@pytest.mark.parametrize("start", [15.0, "15", "15.0"])
def test_positions_that_are_floats_in_json_are_read(tmp_path, start):
    answers = [{"text": "nine", "answer_start": start}]
    qa = {"id": "a", "question": QUESTION, "answers": answers}
    content = {"data": [{"paragraphs": [{"context": CONTEXT, "qas": [qa]}]}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(content))
    assert read_answers(path) == [("nine", 15)]


@pytest.mark.parametrize("start", [15.5, "15th", True, [15]])
def test_a_position_that_is_not_a_whole_number_is_an_error(tmp_path, start):
    answers = [{"text": "nine", "answer_start": start}]
    qa = {"id": "a", "question": QUESTION, "answers": answers}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps([{"context": CONTEXT, "qas": [qa]}]))
    with pytest.raises(ValueError, match=r"'answer_start' of type int"):
        read_answers(path)


@pytest.mark.parametrize("column", ["answer", "answer_text", "text"])
@pytest.mark.parametrize("start", [15, 15.0, "15.0", None])
def test_json_lines_may_have_the_columns_of_tables(tmp_path, column, start):
    row = {"question": QUESTION, "context": CONTEXT, "answer_start": start}
    path = tmp_path / "squad.jsonl"
    path.write_text(json.dumps({**row, column: "nine"}) + "\n")
    assert read_answers(path) == [("nine", 15)]


@pytest.mark.parametrize("column", ["answer", "answer_text", "text"])
def test_an_empty_text_in_json_lines_is_not_an_answer(tmp_path, column):
    row = {"question": QUESTION, "context": CONTEXT, column: ""}
    path = tmp_path / "squad.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert read_answers(path, version_2_with_negative=True) == [("", -1)]


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
    assert read_answers(path) == [("nine", 15)]


def test_the_line_of_a_row_is_the_id_of_its_question(tmp_path):
    row = {"question": QUESTION, "context": CONTEXT, "document_id": "7"}
    path = write_questions(tmp_path / "squad.csv", row)
    (example,) = read_squad_examples(read_squad_file(path), is_training=False)
    assert (example.qas_id, example.question_text) == ("2", QUESTION)


def test_training_names_the_columns_that_a_table_lacks(tmp_path):
    row = {"question": QUESTION, "context": CONTEXT}
    path = write_questions(tmp_path / "squad.csv", row)
    with pytest.raises(ValueError, match="columns question, context, answer"):
        read_answers(path)


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
    assert read_answers(path) == [("nine", 19), ("Oslo", 14)]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_file_may_be_a_list(tmp_path, indent):
    entry = {"question": QUESTION, "context": CONTEXT, "answer": "nine"}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps([entry | {"id": "7"}], indent=indent))
    assert read_answers(path) == [("nine", 15)]


def test_a_json_file_may_have_an_entry_a_line(tmp_path):
    entry = {"question": QUESTION, "context": CONTEXT, "answer": "nine"}
    path = tmp_path / "squad.json"
    path.write_text(f"{json.dumps(entry)}\n{json.dumps(entry)}\n")
    assert read_answers(path) == [("nine", 15)] * 2


@pytest.fixture
def latin_file(tmp_path):
    """A table in another encoding than UTF-8."""
    path = tmp_path / "squad.csv"
    text = "question|context|answer\nWo?|Das Caf\xe9 ist hier.|Caf\xe9\n"
    path.write_bytes(text.encode("cp1252"))
    return path


def test_an_error_names_the_flag_for_the_encoding(latin_file):
    with pytest.raises(ValueError, match="--encoding=cp1252"):
        read_squad_file(latin_file)


def test_the_flags_of_tables_are_read(latin_file):
    layout = LayoutOptions(encoding="cp1252").layout()
    ((context, _, _),) = read_squad_file(latin_file, layout).questions
    assert context == "Das Caf\xe9 ist hier."
