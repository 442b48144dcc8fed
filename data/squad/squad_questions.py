"""Reads the questions of SQuAD's JSON files, and of tables.

Tables and JSON files of other tools have their own notations for answers, which
become those of SQuAD.
"""

import ast
import contextlib
import io
import os
import re
import tokenize
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from data.io import compressed_files, encodings, text_files
from data.tables import tables
from data.tables.column_names import ANSWER_NAMES
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout, format_of
from files.json_files import JsonObject, parse_json
from files.paths import StrPath

_ValueT = TypeVar("_ValueT")
# Names of values and of functions that a cell may contain.
_VALUE_OF_NAME = {
    "nan": None,
    "NaN": None,
    "null": None,
    "true": True,
    "false": False,
}
_ARRAY_FUNCTION = re.compile(r"((np|numpy)\.)?(array|str_|(int|float)(32|64))")
# Tokens that Python joins, or rejects, if no comma is between them.
_LITERAL_TOKENS = (tokenize.STRING, tokenize.NUMBER)
# Errors of parsing and evaluating a cell.
_CELL_ERRORS = (
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
)
# Matches a whole number.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.0*)?")
_TRUE_CELLS = ("true", "1", "1.0", "yes")


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
    `answers_of_row` reads.

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
    for article_place, article in _read_entries(path, layout):
        for place, paragraph in _read_paragraphs(article, article_place):
            context = read_field(paragraph, "context", str, place)
            if "qas" not in paragraph:
                qa = _in_squad_layout(paragraph, place)
                yield Question(context, qa, place)
                continue
            entries = read_field(paragraph, "qas", list, place)
            for index, entry in enumerate(entries):
                qa_place = f"{place}.qas[{index}]"
                qa = _in_squad_layout(entry, qa_place)
                yield Question(context, qa, qa_place)


def _read_paragraphs(
    article: JsonObject, place: str
) -> list[tuple[str, JsonObject]]:
    """Returns (place in the file, paragraph) of an article's paragraphs.

    An article may also be a single paragraph.
    """
    is_paragraph = isinstance(article, dict) and "context" in article
    if is_paragraph and "paragraphs" not in article:
        return [(place, article)]
    paragraphs = read_field(article, "paragraphs", list, place)
    return [
        (f"{place}.paragraphs[{index}]", paragraph)
        for index, paragraph in enumerate(paragraphs)
    ]


def _read_entries(
    path: str, layout: TableLayout
) -> Iterator[tuple[str, JsonObject]]:
    """Yields (place in the file, entry).

    The id of a row is its line number.
    """
    document = _read_document(path, layout)
    if document:
        yield from _list_entries(document, path)
    elif format_of(path) == "jsonl":
        for row in tables.read_table(tables.Table(path, layout), []):
            yield row.place, {"id": str(row.row_number)} | row.cells
    else:
        needed = ["question", "context"]
        for row in tables.read_table(tables.Table(path, layout), needed):
            yield row.place, _entry_of_row(row)


def _read_document(path: str, layout: TableLayout) -> str:
    """Returns the text of a file that is a single JSON value.

    Returns "" for a table and for JSON lines, even if these are in a file named
    .json, and for an empty file.
    """
    is_json = compressed_files.uncompressed_name(path).endswith(".json")
    if not is_json and format_of(path) not in (None, "text"):
        return ""
    with text_files.open_text(path, layout.encoding) as lines:
        text = lines.read()
    encodings.check_encoding(text, layout.encoding)
    first_line = text.lstrip().partition("\n")[0]
    has_json_lines = is_json and _is_entry(first_line)
    return "" if has_json_lines else text


def _is_entry(line: str) -> bool:
    """Returns whether a line is a whole entry, as in a file of JSON lines."""
    try:
        value = parse_json(line, "", object)
    except ValueError:
        return False
    return isinstance(value, dict) and not isinstance(value.get("data"), list)


def _list_entries(document: str, path: str) -> list[tuple[str, JsonObject]]:
    """Returns (place in the file, entry) of the entries of a JSON value.

    The value is a dict with `data`, or only the list that `data` contains.
    """
    entries = parse_json(document, path, object)
    if not isinstance(entries, list):
        entries = read_field(entries, "data", list, path)
    return [
        (f"{path}: data[{index}]", entry) for index, entry in enumerate(entries)
    ]


def _entry_of_row(row: tables.TableRow) -> JsonObject:
    """Converts a table's row to a question with its passage and answers."""
    cells = row.cells
    with _explain_row_errors(row.place):
        answers = answers_of_row(cells)
    has_id = cells.get("id") not in (None, "")
    return {
        "id": cells["id"] if has_id else str(row.row_number),
        "question": cells["question"],
        "context": cells["context"],
        **answers,
    }


def _in_squad_layout(qa: object, place: str) -> JsonObject:
    """Converts a question from another layout to SQuAD's layout.

    An id that is a number becomes a string, as in the prediction files of
    Google's code.
    """
    if not isinstance(qa, dict):
        raise _field_error(qa, "id", str, place)
    qa = dict(qa)
    if type(qa.get("id")) in (int, float):
        qa["id"] = str(qa["id"])
    column = _find_answer_column(qa)
    if "answers" not in qa and column:
        answer = qa.pop(column)
        start = qa.pop("answer_start", None)
        with _explain_row_errors(place):
            qa["answers"] = _list_answers(answer, start)
        qa.setdefault("is_impossible", not qa["answers"])
    elif isinstance(qa.get("answers"), dict | list):
        # In transformers' files, answers are {"text": [...], "answer_start":
        # [...]}.
        with _explain_row_errors(place):
            answers = _list_answers(qa["answers"])
        if isinstance(qa["answers"], dict):
            qa.setdefault("is_impossible", not answers)
        qa["answers"] = answers
    return qa


@contextlib.contextmanager
def _explain_row_errors(place: str) -> Iterator[None]:
    """Adds the place to a ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def answers_of_row(row: Mapping[str, object]) -> JsonObject:
    """Returns the answers that the columns of a table's row contain.

    These columns are read:

    - `answers`, as on the hub: a dict with the lists `text` and `answer_start`,
      or a list of answers, in the notation of JSON, Python or numpy. Or
      `answers.text` and `answers.answer_start`.
    - `answer`, `answer_text` or `text`, and `answer_start`, as in haystack. An
      empty cell is no answer.
    - `is_impossible`, if it exists.

    Returns:
        {"answers": list of {"text": str, "answer_start": int or None},
        "is_impossible": bool}. {} if the table has no column of answers.
    """
    context = str(row["context"])
    start: object = None
    if "answers" in row:
        answers = parse_cell(row["answers"], context)
    elif "answers.text" in row:
        answers = parse_cell(row["answers.text"], context)
        start = row.get("answers.answer_start")
    else:
        column = _find_answer_column(row)
        if column is None:
            return {}
        answers = parse_cell(row[column], context)
        start = row.get("answer_start")
    listed = _list_answers(answers, parse_cell(start))
    is_impossible = not listed
    if row.get("is_impossible") not in (None, ""):
        is_impossible = str(row["is_impossible"]).strip().lower() in _TRUE_CELLS
    return {
        "answers": [] if is_impossible else listed,
        "is_impossible": is_impossible,
    }


def _find_answer_column(row: Mapping[str, object]) -> str | None:
    """Returns the name of the column with the only answer, None without it."""
    return next((name for name in ANSWER_NAMES if name in row), None)


def _list_answers(answers: object, start: object = None) -> list[JsonObject]:
    """Returns a list of answers, each {"text": ..., "answer_start": ...}.

    Args:
        answers: a text, a list of texts, an answer, a list of answers, or an
            answer whose values are lists.
        start: first character of the answer, or a list of them, if `answers`
            does not contain it.

    Raises:
        ValueError: there is not one position for each text, or a value is of
            another type.
    """
    if isinstance(answers, dict):
        answers, start = _text_and_start_of(answers)
    if answers is None or answers == "":
        return []
    texts = answers if isinstance(answers, list) else [answers]
    starts = start if isinstance(start, list) else [start]
    if starts in ([None], [""]):
        starts = [None] * len(texts)
    if len(texts) != len(starts):
        raise ValueError(
            f"{len(texts)} answers have {len(starts)} positions: {texts!r}, "
            f"{starts!r}"
        )
    return [*map(_answer_of, texts, starts)]


def _text_and_start_of(answer: JsonObject) -> tuple[object, object]:
    """Returns the text and the position of an answer, or lists of them."""
    if "text" not in answer:
        raise ValueError(f"the answer {answer!r} has no 'text'")
    start = answer.get("answer_start")
    if isinstance(answer["text"], list) and not isinstance(start, list):
        raise ValueError(f"{answer!r} has no list 'answer_start'")
    return answer["text"], start


def _answer_of(text: object, start: object) -> JsonObject:
    answer = {"text": text, "answer_start": start}
    if isinstance(text, dict):
        answer = {"answer_start": None, **text}
    elif not isinstance(text, str):
        raise ValueError(f"the answer {text!r} is not a text")
    return {
        **answer,
        "answer_start": parse_whole_number(answer["answer_start"]),
    }


def parse_whole_number(value: object) -> object:
    """Returns 48 for 48.0, "48" and "48.0", and None for "" and NaN.

    pandas writes integers as floats if a cell of the column is empty. Other
    values are returned unchanged.
    """
    if isinstance(value, str):
        if not _WHOLE_NUMBER.fullmatch(value.strip()):
            return None if value.strip().lower() in ("", "nan") else value
        value = float(value)
    if isinstance(value, float):
        if value != value:
            return None
        return int(value) if value.is_integer() else value
    return value


def parse_cell(value: object, context: str = "") -> object:
    """Returns the value that a cell contains in JSON, Python or numpy notation.

    A cell that begins with no bracket, or that is a part of `context`, is a
    text. A value that is not a text is returned as it is.

    Examples:
        >>> parse_cell("['a' 'b']")
        ['a', 'b']
        >>> parse_cell("[1895]", context="The year [1895] was cold.")
        '[1895]'

    Raises:
        ValueError: the cell begins with a bracket but cannot be read.
    """
    if not isinstance(value, str) or (value and value in context):
        return value
    text = value.strip()
    if not text.startswith(("{", "[", "(", "array(", "np.", "numpy.")):
        return value
    with contextlib.suppress(ValueError):
        return parse_json(text, "the answer", object)
    try:
        return _value_of(ast.parse(_insert_commas(text), mode="eval").body)
    except _CELL_ERRORS:
        raise ValueError(
            f"the answer {value[:80]!r} cannot be read; write it as JSON, such "
            'as {"text": ["nine"], "answer_start": [27]}'
        ) from None


def _insert_commas(text: str) -> str:
    """Returns a text in numpy's notation with commas between the elements.

    numpy's str() separates the elements of an array only by blanks, and Python
    would join two texts.
    """
    parts: list[str] = []
    is_after_literal = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if is_after_literal and token.type in _LITERAL_TOKENS:
            parts.append(",")
        is_after_literal = token.type in _LITERAL_TOKENS
        parts.append(token.string.strip())
    return " ".join(parts)


def _value_of(node: ast.expr) -> Any:  # noqa: ANN401  a value of any type
    """Evaluates a cell that consists of literals.

    array(x), np.int64(x) and the like count as x. Nothing of the cell is
    executed.
    """
    match node:
        case ast.Constant(value=value) if value is not ...:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=number):
            return -_value_of(number)
        case ast.Name(id=name) if name in _VALUE_OF_NAME:
            return _VALUE_OF_NAME[name]
        case ast.Call(func=name, args=[inner, *_]) if _is_array_call(name):
            return _value_of(inner)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_value_of(element) for element in elements]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [_value_of(key) for key in keys if key]
            return dict(zip(names, map(_value_of, values), strict=True))
    raise ValueError(ast.dump(node))


def _is_array_call(function: ast.expr) -> bool:
    return bool(_ARRAY_FUNCTION.fullmatch(ast.unparse(function)))


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
