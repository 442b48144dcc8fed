"""Reads the questions of SQuAD's JSON files, and of tables."""

import bisect
import contextlib
import dataclasses
import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from absl import logging

from data.io import encodings, packed_files, text_files
from data.squad import cells
from data.tables import table_formats, tables
from files.json_files import JsonObject, parse_json
from files.paths import StrPath

_ValueT = TypeVar("_ValueT")

# Matches a word of a passage. The brackets contain the white space at which
# Google's code splits passages.
WORD = re.compile("[^ \t\r\n\u202f]+")


@dataclasses.dataclass(slots=True)
class SquadExample:
    """A question about a passage.

    Attributes:
        qas_id: the question's id in the file.
        question_text: the question.
        doc_tokens: the passage's words. All questions about the passage share
            the list.
        orig_answer_text: in training: the answer as in the file, "" for no
            answer.
        start_position: in training: index of the answer's first word in
            `doc_tokens`, -1 for no answer.
        end_position: in training: index of the answer's last word in
            `doc_tokens`, -1 for no answer.
        is_impossible: True if the passage does not answer the question.
        context: the unchanged passage.
        answer_start: in training: index of the answer's first character in
            `context`, -1 for no answer.
    """

    qas_id: str
    question_text: str
    doc_tokens: list[str]
    orig_answer_text: str = ""
    start_position: int = -1
    end_position: int = -1
    is_impossible: bool = False
    context: str = ""
    answer_start: int = -1


class Question(NamedTuple):
    """A question as a file contains it.

    Attributes:
        context: the passage, the same object for all its questions.
        qa: the question's dict, in SQuAD's layout.
        where: the file and the question's place in it, for messages.
    """

    context: str
    qa: JsonObject
    where: str


class SquadFile:
    """The questions of a SQuAD file, which is read once.

    Args:
        path: path of the file. `read_questions` describes the layouts.
        layout: how a table is written.

    Attributes:
        path: path of the file.
        questions: the questions, in the order of the file.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not valid JSON, or not in SQuAD's layout.
    """

    def __init__(
        self,
        path: StrPath,
        layout: table_formats.Layout = table_formats.DEFAULT_LAYOUT,
    ) -> None:
        self.path = os.fspath(path)
        self.questions = [*read_questions(path, layout)]


def read_squad_examples(
    file: SquadFile,
    is_training: bool,
    version_2_with_negative: bool = False,
    use_char_offsets: bool = False,
) -> list[SquadExample]:
    """Returns the questions of a SQuAD file, in the order of the file.

    With `is_training`, questions whose passage does not contain the answer at
    `answer_start` are skipped with a warning. Another warning counts the
    answers that are near `answer_start`, but not exactly there. With
    `version_2_with_negative`, questions may be unanswerable.

    With `use_char_offsets`, an answer that equals the passage's characters at
    its position is accepted without comparing words. The words might differ,
    because str.split splits at more kinds of white space than WORD does.

    Raises:
        ValueError: the file is not in SQuAD's layout, or contains no question
            that can be used. With `is_training`, also if an answerable question
            has no answer or several answers.
    """
    examples = []
    skipped = []
    for example, word_starts, question in _create_examples(file):
        _, qa, where = question
        if is_training and version_2_with_negative:
            example.is_impossible = read_field(qa, "is_impossible", bool, where)
        has_answer = is_training and not example.is_impossible
        if has_answer and not _set_answer(
            example, qa, where, word_starts, use_char_offsets
        ):
            skipped.append(where)
        else:
            examples.append(example)
    num_moved = sum(
        is_training
        and not example.is_impossible
        and not _begins_at_start(example)
        for example in examples
    )
    _warn_of_answers(file.path, len(examples), num_moved, skipped)
    if not examples:
        raise ValueError(f"{file.path} contains no question that can be used")
    if not is_training:
        _warn_of_repeated_ids(file.path, examples)
    return examples


def _create_examples(
    file: SquadFile,
) -> Iterator[tuple[SquadExample, list[int], Question]]:
    """Yields (example without answer, starts of the words, question)."""
    for context, questions in itertools.groupby(
        file.questions, key=lambda question: question.context
    ):
        words = [*WORD.finditer(context)]
        doc_tokens = [word.group() for word in words]
        word_starts = [word.start() for word in words]
        for question in questions:
            _, qa, where = question
            example = SquadExample(
                qas_id=read_field(qa, "id", str, where),
                question_text=read_field(qa, "question", str, where),
                doc_tokens=doc_tokens,
                context=context,
            )
            yield example, word_starts, question


def _warn_of_repeated_ids(
    input_file: StrPath, examples: Sequence[SquadExample]
) -> None:
    num_ids = len({example.qas_id for example in examples})
    if num_ids < len(examples):
        logging.warning(
            "%s: %d questions repeat the id of another question. Only the "
            "answer to the last question with each id is written",
            input_file,
            len(examples) - num_ids,
        )


def _warn_of_answers(
    input_file: StrPath,
    num_examples: int,
    num_moved: int,
    skipped: Sequence[str],
) -> None:
    """Warns of answers that are not at `answer_start`.

    `num_examples` and `num_moved` do not count the questions that were skipped.
    `skipped` contains their places.
    """
    if num_moved:
        logging.warning(
            "%s: %d of %d answers do not begin exactly at `answer_start`, so "
            "the words to learn may include words beside the answer. "
            "`answer_start` must count characters, not bytes or UTF-16 units",
            input_file,
            num_moved,
            num_examples,
        )
    if skipped:
        logging.warning(
            "%s: skipped %d of %d questions, because the passage does not "
            "contain the answer at `answer_start`: %s",
            input_file,
            len(skipped),
            len(skipped) + num_examples,
            ", ".join(skipped[:10]),
        )


def read_questions(
    input_file: StrPath,
    layout: table_formats.Layout = table_formats.DEFAULT_LAYOUT,
) -> Iterator[Question]:
    """Yields each question of a SQuAD file.

    Other layouts are accepted too. An entry may contain `context` and `qas`
    without `paragraphs`, as in KorQuAD. It may be one question with its
    `context`, as in transformers' examples. The file may be a list of entries
    instead of a dict with `data`, or contain one entry in each line. Or it is a
    table (`.csv`, `.tsv`, `.xlsx`, `.parquet`) with the columns `question`,
    `context` and, optionally, `id` and those that `cells.answers_of_row` reads.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not valid JSON, or not in SQuAD's layout.
    """
    for place, article in _read_entries(os.fspath(input_file), layout):
        paragraphs = [(place, article)]
        is_paragraph = isinstance(article, dict) and "context" in article
        if not is_paragraph or "paragraphs" in article:
            paragraphs = [
                (f"{place}.paragraphs[{index}]", paragraph)
                for index, paragraph in enumerate(
                    read_field(article, "paragraphs", list, place)
                )
            ]
        for where, paragraph in paragraphs:
            context = read_field(paragraph, "context", str, where)
            if "qas" not in paragraph:
                qa = _in_squad_layout(paragraph, where)
                yield Question(context, qa, where)
                continue
            entries = read_field(paragraph, "qas", list, where)
            for index, entry in enumerate(entries):
                qa_where = f"{where}.qas[{index}]"
                qa = _in_squad_layout(entry, qa_where)
                yield Question(context, qa, qa_where)


def _read_entries(
    path: str, layout: table_formats.Layout
) -> Iterator[tuple[str, JsonObject]]:
    """Yields (place in the file, entry).

    The id of a row is its line number.
    """
    file_format = table_formats.format_of(path)
    is_json = packed_files.name_without_packing(path).endswith(".json")
    text = ""
    if is_json or file_format in (None, "text"):
        with text_files.open_text(path, layout.encoding) as lines:
            text = lines.read()
        encodings.check_text(text, layout.encoding)
    if text and not (is_json and _is_entry(text.lstrip().partition("\n")[0])):
        entries = parse_json(text, path, object)
        if not isinstance(entries, list):
            entries = read_field(entries, "data", list, path)
        for index, entry in enumerate(entries):
            yield f"{path}: data[{index}]", entry
        return
    is_table = file_format != "jsonl"
    needed = ["question", "context"] if is_table else []
    for where, row in tables.read_table(tables.Table(path, layout), needed):
        line_number = where.rpartition(" ")[2]
        if is_table:
            yield where, _entry_of_row(row, where, line_number)
        else:
            yield where, {"id": line_number} | row


def _entry_of_row(
    row: Mapping[str, Any], where: str, line_number: str
) -> JsonObject:
    """Converts a table's row to a question with its passage and answers."""
    with _naming(where):
        answers = cells.answers_of_row(row)
    has_id = row.get("id") not in (None, "")
    return {
        "id": row["id"] if has_id else line_number,
        "question": row["question"],
        "context": row["context"],
        **answers,
    }


@contextlib.contextmanager
def _naming(where: str) -> Iterator[None]:
    """Adds the place to a ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _is_entry(line: str) -> bool:
    """Returns whether a line is a whole entry, as in a file of JSON lines."""
    try:
        value = parse_json(line, "", object)
    except ValueError:
        return False
    return isinstance(value, dict) and not isinstance(value.get("data"), list)


def _in_squad_layout(qa: object, where: str) -> JsonObject:
    """Converts a question from another layout to SQuAD's layout.

    An id that is a number becomes a string, as in the prediction files of
    Google's code.
    """
    if not isinstance(qa, dict):
        raise _field_error(qa, "id", str, where)
    qa = dict(qa)
    if type(qa.get("id")) in (int, float):
        qa["id"] = str(qa["id"])
    column = cells.text_column(qa)
    if "answers" not in qa and column:
        answer = qa.pop(column)
        start = qa.pop("answer_start", None)
        with _naming(where):
            qa["answers"] = cells.list_answers(answer, start)
        qa.setdefault("is_impossible", not qa["answers"])
    elif isinstance(qa.get("answers"), dict | list):
        # In transformers' files, answers are {"text": [...], "answer_start":
        # [...]}.
        with _naming(where):
            answers = cells.list_answers(qa["answers"])
        if isinstance(qa["answers"], dict):
            qa.setdefault("is_impossible", not answers)
        qa["answers"] = answers
    return qa


def read_field(
    mapping: object, key: str, value_type: type[_ValueT], where: str
) -> _ValueT:
    """Returns the value of `key` in a JSON object.

    Raises:
        ValueError: `mapping` is not a dict, or the value is not of the type
            `value_type`. The message names `where`.
    """
    value = mapping.get(key) if isinstance(mapping, dict) else None
    # Do not use isinstance, which would accept JSON's true as an int.
    if type(value) is not value_type:
        raise _field_error(mapping, key, value_type, where)
    return value


def _field_error(
    mapping: object, key: str, value_type: type, where: str
) -> ValueError:
    return ValueError(
        f"{where} has no {key!r} of type {value_type.__name__}. Use a file in "
        "SQuAD's JSON layout, or a table with the columns question, context, "
        f"answer and answer_start. Received: {str(mapping)[:80]!r}"
    )


def _begins_at_start(example: SquadExample) -> bool:
    """Returns whether the answer's first word is at `answer_start`.

    There may be white space before it.
    """
    answer = example.orig_answer_text
    start = example.answer_start
    text = example.context[start : start + len(answer)].lstrip()
    return text.startswith(answer.split()[0])


def _set_answer(
    example: SquadExample,
    qa: JsonObject,
    where: str,
    word_starts: Sequence[int],
    use_char_offsets: bool,
) -> bool:
    """Sets the example's answer and its first and last word, for training.

    Returns False if the passage does not contain the answer at its position.
    `word_starts` contains the index of each word's first character.
    """
    answer, start = _find_answer(example.context, qa, where)
    example.orig_answer_text = answer
    example.answer_start = start
    end = start + len(answer) - 1
    # An answer that contains no word, or that is outside the passage, counts as
    # not found. Google's code uses a wrong position or crashes.
    is_inside = 0 <= start <= end < len(example.context)
    if not is_inside or not answer.split():
        return False
    first = example.start_position = bisect.bisect_right(word_starts, start) - 1
    last = example.end_position = bisect.bisect_right(word_starts, end) - 1
    if use_char_offsets and example.context[start : end + 1] == answer:
        return True
    words = example.doc_tokens[first : last + 1]
    return " ".join(answer.split()) in " ".join(words)


def _find_answer(context: str, qa: JsonObject, where: str) -> tuple[str, int]:
    """Returns the text of the only answer, and its first character.

    Raises a ValueError if there are more or fewer answers, or if the answer has
    no position, and the passage does not contain its text once.
    """
    answers = read_field(qa, "answers", list, where)
    if len(answers) != 1:
        hint = "" if answers else "; for v2.0, set --version_2_with_negative"
        raise ValueError(
            f"{where}: to train, each answerable question needs exactly one "
            f"answer. Received: {len(answers)}{hint}"
        )
    where = f"{where}.answers[0]"
    answer = read_field(answers[0], "text", str, where)
    if answers[0].get("answer_start") is not None:
        return answer, read_field(answers[0], "answer_start", int, where)
    start = context.find(answer)
    if start < 0 or context.find(answer, start + 1) >= 0:
        number = "not" if start < 0 else "more than once"
        raise ValueError(
            f"{where}: the answer {answer!r} is {number} in the passage. "
            "Correct it, or set `answer_start` to its first character"
        )
    return answer, start
