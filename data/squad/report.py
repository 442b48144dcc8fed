"""Writes an HTML report of right and wrong answers to SQuAD's questions."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from data.io.html_report import Span, write
from data.squad.reading import field, read_questions
from data.squad.scoring import compute_exact, compute_f1, has_gold_answers
from files.paths import StrPath

_LEGEND = (
    "In the passages: ",
    Span("a right answer", "right"),
    ", ",
    Span("the predicted answer", "predicted"),
    ", ",
    Span("both", "both"),
    ".",
)


def write_report(
    output_file: StrPath,
    input_file: StrPath,
    predictions: Mapping[str, str],
    version_2_with_negative: bool = False,
) -> None:
    """Writes a self-contained HTML page of right and wrong answers.

    Wrong answers come first, and among them the answers with the lowest F1.
    Questions without a prediction, or without gold answers, are skipped.

    Args:
        output_file: HTML file to write.
        input_file: SQuAD file with the questions and the gold answers.
        predictions: {question id: predicted text}. "" means no answer.
        version_2_with_negative: whether the file is in the format of v2.0.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: the input is not in SQuAD's layout.
    """
    wrong: list[tuple[float, dict[str, Any]]] = []
    right: list[tuple[float, dict[str, Any]]] = []
    for question, context, answers, prediction in _read_answered(
        input_file, predictions, version_2_with_negative
    ):
        f1 = max(compute_f1(text, prediction) for text in answers)
        lines = [
            f"predicted: {prediction or 'no answer'} (F1 {f1:.2f})",
            f"right: {_describe(answers)}",
        ]
        entry = {
            "headings": [question],
            "lines": lines,
            "paragraphs": [_mark_answers(context, answers, prediction)],
        }
        is_exact = any(compute_exact(text, prediction) for text in answers)
        (right if is_exact else wrong).append((f1, entry))
    wrong.sort(key=lambda answered: answered[0])
    summary = (
        f"{len(right)} of {len(right) + len(wrong)} answers are exactly right."
    )
    sections = [
        {"title": title, "entries": [entry for _, entry in answered]}
        for title, answered in (("Wrong", wrong), ("Right", right))
    ]
    write(output_file, "Answers to SQuAD", [summary, _LEGEND], sections)


def _read_answered(
    input_file: StrPath,
    predictions: Mapping[str, str],
    version_2_with_negative: bool,
) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Yields (question, passage, right answers, prediction) of each question.

    The right answers are {text: `answer_start` in the file, None if missing},
    or {"": None} if the question has no answer. Questions without a prediction
    or gold answers are skipped.
    """
    for context, qa, where in read_questions(input_file):
        prediction = predictions.get(field(qa, "id", str, where))
        if prediction is None:
            continue
        answers = {
            field(answer, "text", str, where): answer.get("answer_start")
            for answer in field(qa, "answers", list, where)
        } or {"": None}
        if has_gold_answers(qa, version_2_with_negative):
            question = field(qa, "question", str, where)
            yield question, context, answers, prediction


def _describe(answers: Iterable[str]) -> str:
    return " | ".join(sorted(answers)) or "no answer"


def _mark_answers(
    context: str, answers: Mapping[str, Any], prediction: str
) -> list[str | Span]:
    """Splits the passage into pieces, and marks right and predicted answers.

    `answers` is {right answer: `answer_start` in the file}.
    """
    right_spans = [
        (start, start + len(text))
        for text, start in answers.items()
        if text
        and type(start) is int
        and context[start : start + len(text)] == text
    ]
    # Use a lookahead, which also finds occurrences that overlap each other.
    pattern = f"(?={re.escape(prediction)})"
    found = re.finditer(pattern, context) if prediction else ()
    # If the prediction occurs several times, mark an occurrence that overlaps a
    # right answer.
    predicted_span = max(
        [(one.start(), one.start() + len(prediction)) for one in found],
        key=lambda span: any(
            span[0] < end and start < span[1] for start, end in right_spans
        ),
        default=(0, 0),
    )
    bounds = sorted({0, len(context), *predicted_span}.union(*right_spans))
    pieces: list[str | Span] = []
    for start, end in itertools.pairwise(bounds):
        is_right = any(a <= start and end <= b for a, b in right_spans)
        is_predicted = predicted_span[0] <= start and end <= predicted_span[1]
        kind = ("", "predicted", "right", "both")[2 * is_right + is_predicted]
        piece = context[start:end]
        pieces.append(Span(piece, kind) if kind else piece)
    return pieces
