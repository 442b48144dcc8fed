"""Reads the questions of SQuAD's JSON files, and of tables.

Questions in the layouts of other tools become questions in SQuAD's layout.
answer_notations.py reads their answers.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from data.io import compressed_files, encodings, text_files
from data.squad.answer_notations import (
    find_answer_column,
    list_answers,
    parse_row_answers,
)
from data.tables import tables
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout, format_of
from files.json_files import JsonObject, parse_json
from files.paths import StrPath

_ValueT = TypeVar("_ValueT")


class Question(NamedTuple):
    """A question as a file contains it.

    Attributes:
        context: the passage, the same object for all its questions.
        qa: the question's dict, in SQuAD's layout.
        place: the file and the question's place in it, for messages.
    """

    context: str
    qa: JsonObject
    place: str


class _PlacedObject(NamedTuple):
    """An object of a file: an entry, or a paragraph of one.

    Attributes:
        place: the file and the object's place in it, for messages.
        fields: the object.
    """

    place: str
    fields: JsonObject


class SquadFile(NamedTuple):
    """The questions of a SQuAD file.

    Attributes:
        path: the file that the questions come from, for messages.
        questions: the questions, in the order of the file.
    """

    path: str
    questions: list[Question]


def read_squad_file(
    path: StrPath,
    layout: TableLayout = DEFAULT_LAYOUT,
) -> SquadFile:
    """Reads the questions of a SQuAD file.

    Other layouts are accepted too. An entry may contain `context` and `qas`
    without `paragraphs`, as in KorQuAD. An entry may be one question with its
    `context`, as in transformers' examples. The file may be a list of entries
    instead of a dict with `data`, or contain one entry in each line. Or the
    file is a table (`.csv`, `.tsv`, `.xlsx`, `.parquet`) with the columns
    `question`, `context` and, optionally, `id` and the columns that
    `parse_row_answers` reads.

    Args:
        path: path of the file.
        layout: how a table is written.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not valid JSON, or not in SQuAD's layout.
    """
    name = os.fspath(path)
    return SquadFile(name, [*_read_questions(name, layout)])


def _read_questions(path: str, layout: TableLayout) -> Iterator[Question]:
    """Yields each question of a file, for `read_squad_file`."""
    for entry in _read_entries(path, layout):
        for place, paragraph in _list_paragraphs(entry):
            context = read_field(paragraph, "context", str, place)
            if "qas" not in paragraph:
                qa = _parse_question(paragraph, place)
                yield Question(context, qa, place)
                continue
            values = read_field(paragraph, "qas", list, place)
            for index, value in enumerate(values):
                qa_place = f"{place}.qas[{index}]"
                qa = _parse_question(value, qa_place)
                yield Question(context, qa, qa_place)


def _list_paragraphs(entry: _PlacedObject) -> list[_PlacedObject]:
    """Returns the paragraphs of an entry: an article, or a paragraph itself."""
    place, fields = entry
    is_paragraph = isinstance(fields, dict) and "context" in fields
    if is_paragraph and "paragraphs" not in fields:
        return [entry]
    paragraphs = read_field(fields, "paragraphs", list, place)
    return [
        _PlacedObject(f"{place}.paragraphs[{index}]", paragraph)
        for index, paragraph in enumerate(paragraphs)
    ]


def _read_entries(path: str, layout: TableLayout) -> Iterator[_PlacedObject]:
    if _has_ending_of_table(path):
        yield from _read_rows(path, layout)
        return
    document = _read_document(path, layout)
    if document is None:
        yield from _read_rows(path, layout)
    else:
        yield from _list_entries(document, path)


def _has_ending_of_table(path: str) -> bool:
    """Returns whether a file is a table by its name.

    A file named .json or .txt may be one too.
    """
    if _has_ending_of_json(path):
        return False
    return format_of(path) not in (None, "text")


def _has_ending_of_json(path: str) -> bool:
    return compressed_files.uncompressed_name(path).endswith(".json")


def _read_document(path: str, layout: TableLayout) -> str | None:
    """Returns the text of a file that is a single JSON value.

    Returns None if the file is a table: JSON lines in a file named .json, or an
    empty file.
    """
    with text_files.open_text(path, layout.encoding) as lines:
        text = lines.read()
    encodings.check_encoding(text, layout.encoding)
    first_line = text.lstrip().partition("\n")[0]
    has_json_lines = _has_ending_of_json(path) and _is_entry(first_line)
    return None if has_json_lines or not text else text


def _is_entry(line: str) -> bool:
    """Returns whether a line is a whole entry, as in a file of JSON lines."""
    try:
        value = parse_json(line, "", object)
    except ValueError:
        return False
    return isinstance(value, dict) and not isinstance(value.get("data"), list)


def _list_entries(document: str, path: str) -> list[_PlacedObject]:
    """Returns the entries of a JSON value.

    The value is a dict with `data`, or only the list that `data` contains.
    """
    entries = parse_json(document, path, object)
    if not isinstance(entries, list):
        entries = read_field(entries, "data", list, path)
    return [
        _PlacedObject(f"{path}: data[{index}]", entry)
        for index, entry in enumerate(entries)
    ]


def _read_rows(path: str, layout: TableLayout) -> Iterator[_PlacedObject]:
    """Yields the rows of a table as entries.

    A row without an id gets its number as the id.
    """
    if format_of(path) == "jsonl":
        for row in tables.read_table(tables.Table(path, layout), []):
            fields = {"id": str(row.row_number)} | row.cells
            yield _PlacedObject(row.place, fields)
    else:
        needed = ["question", "context"]
        for row in tables.read_table(tables.Table(path, layout), needed):
            yield _PlacedObject(row.place, _parse_row(row))


def _parse_row(row: tables.TableRow) -> JsonObject:
    """Converts a table's row to a question with its passage and answers."""
    cells = row.cells
    with _explain_answer_errors(row.place):
        answers = parse_row_answers(cells)
    has_id = cells.get("id") not in (None, "")
    return {
        "id": cells["id"] if has_id else str(row.row_number),
        "question": cells["question"],
        "context": cells["context"],
        **answers,
    }


def _parse_question(qa: object, place: str) -> JsonObject:
    """Returns a question in SQuAD's layout, in whichever layout it is.

    An id that is a number becomes a string, as in the prediction files of
    Google's code.
    """
    if not isinstance(qa, dict):
        raise _field_error(qa, "id", str, place)
    qa = dict(qa)
    if type(qa.get("id")) in (int, float):
        qa["id"] = str(qa["id"])
    answers = qa.get("answers")
    answer_column = find_answer_column(qa)
    with _explain_answer_errors(place):
        if isinstance(answers, list):
            return qa | {"answers": list_answers(answers)}
        if isinstance(answers, dict):
            return _parse_lists_of_answers(qa)
        if "answers" not in qa and answer_column:
            return _parse_only_answer(qa, answer_column)
    return qa


def _parse_lists_of_answers(qa: JsonObject) -> JsonObject:
    """Converts a question of transformers' files.

    Its answers are {"text": [...], "answer_start": [...]}.
    """
    answers = list_answers(qa["answers"])
    return _with_answers(qa, answers)


def _parse_only_answer(qa: JsonObject, answer_column: str) -> JsonObject:
    """Converts a question whose only answer is a field of its own.

    The first character of the answer may be in the field `answer_start`.
    """
    other_fields = dict(qa)
    answer = other_fields.pop(answer_column)
    start = other_fields.pop("answer_start", None)
    answers = list_answers(answer, start)
    return _with_answers(other_fields, answers)


def _with_answers(qa: JsonObject, answers: list[JsonObject]) -> JsonObject:
    """Returns a question with answers. It is impossible if there are none."""
    is_impossible = qa.get("is_impossible", not answers)
    return qa | {"answers": answers, "is_impossible": is_impossible}


@contextlib.contextmanager
def _explain_answer_errors(place: str) -> Iterator[None]:
    """Adds the place to a ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def read_field(
    mapping: object, key: str, value_type: type[_ValueT], place: str
) -> _ValueT:
    """Returns the value of `key` in a JSON object.

    Raises:
        ValueError: `mapping` is not a dict, or the value is not of the type
            `value_type`. The message names `place`.
    """
    value = mapping.get(key) if isinstance(mapping, dict) else None
    # Do not use isinstance, which would accept JSON's true as an int.
    if type(value) is not value_type:
        raise _field_error(mapping, key, value_type, place)
    return value


def _field_error(
    mapping: object, key: str, value_type: type, place: str
) -> ValueError:
    return ValueError(
        f"{place} has no {key!r} of type {value_type.__name__}. Use a file in "
        "SQuAD's JSON layout, or a table with the columns question, context, "
        f"answer and answer_start. Received: {str(mapping)[:80]!r}"
    )
