"""Reads answers in the notations of tools: in cells of tables, and in JSON."""

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Mapping
from typing import Any

from data.tables.column_names import ANSWER_NAMES
from files.json_files import JsonObject, parse_json

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


def parse_row_answers(row: Mapping[str, object]) -> JsonObject:
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
        column = find_answer_column(row)
        if column is None:
            return {}
        answers = parse_cell(row[column], context)
        start = row.get("answer_start")
    listed = list_answers(answers, parse_cell(start))
    is_impossible = not listed
    if row.get("is_impossible") not in (None, ""):
        is_impossible = str(row["is_impossible"]).strip().lower() in _TRUE_CELLS
    return {
        "answers": [] if is_impossible else listed,
        "is_impossible": is_impossible,
    }


def find_answer_column(row: Mapping[str, object]) -> str | None:
    """Returns the name of the column with the only answer, None without it."""
    return next((name for name in ANSWER_NAMES if name in row), None)


def list_answers(answers: object, start: object = None) -> list[JsonObject]:
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
        answers, start = _split_answer(answers)
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
    return [*map(_create_answer, texts, starts)]


def _split_answer(answer: JsonObject) -> tuple[object, object]:
    """Returns the text and the position of an answer, or lists of them."""
    if "text" not in answer:
        raise ValueError(f"the answer {answer!r} has no 'text'")
    start = answer.get("answer_start")
    if isinstance(answer["text"], list) and not isinstance(start, list):
        raise ValueError(f"{answer!r} has no list 'answer_start'")
    return answer["text"], start


def _create_answer(text: object, start: object) -> JsonObject:
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
        return _evaluate(ast.parse(_insert_commas(text), mode="eval").body)
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


def _evaluate(node: ast.expr) -> Any:  # noqa: ANN401  a value of any type
    """Evaluates a cell that consists of literals.

    array(x), np.int64(x) and the like count as x. Nothing of the cell is
    executed.
    """
    match node:
        case ast.Constant(value=value) if value is not ...:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=number):
            return -_evaluate(number)
        case ast.Name(id=name) if name in _VALUE_OF_NAME:
            return _VALUE_OF_NAME[name]
        case ast.Call(func=name, args=[inner, *_]) if _is_array_call(name):
            return _evaluate(inner)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_evaluate(element) for element in elements]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [_evaluate(key) for key in keys if key]
            return dict(zip(names, map(_evaluate, values), strict=True))
    raise ValueError(ast.dump(node))


def _is_array_call(function: ast.expr) -> bool:
    return bool(_ARRAY_FUNCTION.fullmatch(ast.unparse(function)))
