"""Turns the questions of a SQuAD file into examples, with their answers.

squad_questions.py reads the questions of a file.
"""

import bisect
import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from absl import logging

from data.squad.squad_questions import (
    Question,
    SquadFile,
    read_field,
)
from files.json_files import JsonObject
from files.paths import StrPath

# Matches a word of a passage. The brackets contain the white space at which
# Google's code splits passages.
WORD = re.compile("[^ \t\r\n\u202f]+")


@dataclasses.dataclass(frozen=True, slots=True)
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


def read_squad_examples(
    file: SquadFile,
    *,
    is_training: bool,
    version_2_with_negative: bool = False,
    use_char_offsets: bool = False,
) -> list[SquadExample]:
    """Returns the questions of a SQuAD file, in the order of the file.

    Args:
        file: the questions.
        is_training: whether the examples get the answers. Questions whose
            passage does not contain the answer at `answer_start` are skipped
            with a warning. Another warning counts the answers that are near
            `answer_start`, but not exactly there.
        version_2_with_negative: whether questions may be impossible to answer.
        use_char_offsets: whether to accept an answer that equals the passage's
            characters at its position without comparing words. The words might
            differ, because str.split splits at more kinds of white space than
            WORD does.

    Raises:
        ValueError: the file is not in SQuAD's layout, or contains no question
            that can be used. With `is_training`, also if an answerable question
            has no answer or several answers.
    """
    parsed_questions = _parse_questions(file)
    if is_training:
        answered_questions = (
            _with_answer(parsed, version_2_with_negative)
            for parsed in parsed_questions
        )
        examples, skipped = _drop_unanswered(
            answered_questions, use_char_offsets
        )
        _warn_of_answers(file.path, examples, skipped)
    else:
        examples = [parsed.example for parsed in parsed_questions]
        _warn_of_repeated_ids(file.path, examples)
    if not examples:
        raise ValueError(f"{file.path} contains no question that can be used")
    return examples


class _ParsedQuestion(NamedTuple):
    """A question of a file, and its example.

    Attributes:
        example: the example, without an answer until `_with_answer` adds it.
        word_starts: the index of the first character of each word of the
            passage.
        question: the question as the file contains it.
    """

    example: SquadExample
    word_starts: Sequence[int]
    question: Question


def _parse_questions(file: SquadFile) -> Iterator[_ParsedQuestion]:
    """Yields the questions of a file, whose examples have no answer yet."""
    for context, questions in itertools.groupby(
        file.questions, key=lambda question: question.context
    ):
        words = [*WORD.finditer(context)]
        doc_tokens = [word.group() for word in words]
        word_starts = [word.start() for word in words]
        for question in questions:
            _, qa, place = question
            example = SquadExample(
                qas_id=read_field(qa, "id", str, place),
                question_text=read_field(qa, "question", str, place),
                doc_tokens=doc_tokens,
                context=context,
            )
            yield _ParsedQuestion(example, word_starts, question)


def _with_answer(
    parsed: _ParsedQuestion, version_2_with_negative: bool
) -> _ParsedQuestion:
    """Returns a question with its answer, or as an impossible one."""
    example, word_starts, (context, qa, place) = parsed
    if version_2_with_negative and read_field(qa, "is_impossible", bool, place):
        return parsed._replace(
            example=dataclasses.replace(example, is_impossible=True)
        )
    answer, start = _read_answer(context, qa, place)
    last = start + len(answer) - 1
    return parsed._replace(
        example=dataclasses.replace(
            example,
            orig_answer_text=answer,
            answer_start=start,
            start_position=bisect.bisect_right(word_starts, start) - 1,
            end_position=bisect.bisect_right(word_starts, last) - 1,
        )
    )


def _drop_unanswered(
    questions: Iterable[_ParsedQuestion], use_char_offsets: bool
) -> tuple[list[SquadExample], list[str]]:
    """Drops the questions whose passage lacks the answer at its position.

    Returns (the examples of the other questions, the places of the dropped
    ones in the file). Impossible questions are not dropped.
    """
    examples = []
    skipped = []
    for example, _, question in questions:
        if example.is_impossible or _has_answer(example, use_char_offsets):
            examples.append(example)
        else:
            skipped.append(question.place)
    return examples, skipped


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
    examples: Sequence[SquadExample],
    skipped: Sequence[str],
) -> None:
    """Warns of answers that are not at `answer_start`.

    `skipped` contains the places of the questions that were dropped.
    """
    num_moved = sum(
        not example.is_impossible and not _begins_at_start(example)
        for example in examples
    )
    if num_moved:
        logging.warning(
            "%s: %d of %d answers do not begin exactly at `answer_start`, so "
            "the words to learn may include words beside the answer. "
            "`answer_start` must count characters, not bytes or UTF-16 units",
            input_file,
            num_moved,
            len(examples),
        )
    if skipped:
        logging.warning(
            "%s: skipped %d of %d questions, because the passage does not "
            "contain the answer at `answer_start`: %s",
            input_file,
            len(skipped),
            len(skipped) + len(examples),
            ", ".join(skipped[:10]),
        )


def _begins_at_start(example: SquadExample) -> bool:
    """Returns whether the answer's first word is at `answer_start`.

    There may be white space before it.
    """
    answer = example.orig_answer_text
    start = example.answer_start
    text = example.context[start : start + len(answer)].lstrip()
    return text.startswith(answer.split()[0])


def _has_answer(example: SquadExample, use_char_offsets: bool) -> bool:
    """Returns whether the passage contains the answer at its position.

    An answer that contains no word, or that is outside the passage, is not
    there. Google's code uses a wrong position or crashes.
    """
    answer = example.orig_answer_text
    start = example.answer_start
    end = start + len(answer)
    is_inside = 0 <= start < end <= len(example.context)
    if not is_inside or not answer.split():
        return False
    if use_char_offsets and example.context[start:end] == answer:
        return True
    words = example.doc_tokens[
        example.start_position : example.end_position + 1
    ]
    return " ".join(answer.split()) in " ".join(words)


def _read_answer(context: str, qa: JsonObject, place: str) -> tuple[str, int]:
    """Returns the text of the only answer, and its first character.

    Raises a ValueError if there are more or fewer answers, or if the answer has
    no position, and the passage does not contain its text once.
    """
    answers = read_field(qa, "answers", list, place)
    if len(answers) != 1:
        hint = "" if answers else "; for v2.0, set --version_2_with_negative"
        raise ValueError(
            f"{place}: to train, each answerable question needs exactly one "
            f"answer. Received: {len(answers)}{hint}"
        )
    place = f"{place}.answers[0]"
    answer = read_field(answers[0], "text", str, place)
    if answers[0].get("answer_start") is not None:
        return answer, read_field(answers[0], "answer_start", int, place)
    start = context.find(answer)
    if start < 0 or context.find(answer, start + 1) >= 0:
        how_often = "not" if start < 0 else "more than once"
        raise ValueError(
            f"{place}: the answer {answer!r} is {how_often} in the passage. "
            "Correct it, or set `answer_start` to its first character"
        )
    return answer, start
