"""Writes an HTML report of right and wrong answers."""

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from data.io.html_report import Entry, Section, Span, write
from data.squad.reading import field, read_questions
from data.squad.scoring import compute_exact, compute_f1, has_gold_answers

_LEGEND = (
    "In the passages: ",
    Span("a right answer", "right"),
    ", ",
    Span("the predicted one", "predicted"),
    ", ",
    Span("both", "both"),
    ".",
)


def write_report(
    output_file: str | os.PathLike[str],
    input_file: str | os.PathLike[str],
    predictions: Mapping[str, str],
    version_2_with_negative: bool = False,
) -> None:
    """Writes a self-contained HTML page of questions, the worst first.

    Args:
        output_file: path of the page.
        input_file: SQuAD JSON with the right answers.
        predictions: dict of question id to text, "" for no answer. Questions
            without a prediction, or without gold answers, are left out.
        version_2_with_negative: whether questions may have no answer.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: the input is not SQuAD's JSON.
    """
    wrong: list[tuple] = []
    right: list[tuple] = []
    for question, context, answers, prediction in _read_answered(
        input_file, predictions, version_2_with_negative
    ):
        f1 = max(compute_f1(text, prediction) for text in answers)
        is_exact = any(compute_exact(text, prediction) for text in answers)
        entry = (f1, question, context, answers, prediction)
        (right if is_exact else wrong).append(entry)
    wrong.sort(key=lambda entry: entry[0])
    summary = (
        f"{len(right)} of {len(right) + len(wrong)} answers are exactly right."
    )
    sections = [
        Section(title, entries=[_entry(*answered) for answered in found])
        for title, found in (("Wrong", wrong), ("Right", right))
    ]
    write(output_file, "Answers to SQuAD", [summary, _LEGEND], sections)


def describe_answers(
    input_file: str | os.PathLike[str],
    predictions: Mapping[str, str],
    version_2_with_negative: bool = False,
) -> list[dict[str, str]]:
    """Returns the questions of a page as text, in the order of the file.

    Args:
        input_file: as in `write_report`, as are the others.
        predictions: dict of question id to text.
        version_2_with_negative: whether questions may have no answer.

    Returns:
        a "question", its "passage", the "right" answers with | between them,
        and the one that was "predicted", for each.
    """
    return [
        {
            "question": question,
            "passage": context,
            "right": _describe(answers),
            "predicted": prediction or "no answer",
        }
        for question, context, answers, prediction in _read_answered(
            input_file, predictions, version_2_with_negative
        )
    ]


def _read_answered(
    input_file: str | os.PathLike[str],
    predictions: Mapping[str, str],
    version_2_with_negative: bool,
) -> Iterator[tuple[str, str, dict[str, int], str]]:
    """Yields (question, passage, {right answer: its place}, prediction)."""
    for context, qa, where in read_questions(input_file):
        prediction = predictions.get(field(qa, "id", str, where))
        if prediction is None:
            continue
        answers = {
            field(answer, "text", str, where): _position(answer)
            for answer in field(qa, "answers", list, where)
        } or {"": -1}
        if has_gold_answers(qa, version_2_with_negative):
            question = field(qa, "question", str, where)
            yield question, context, answers, prediction


def _describe(answers: Iterable[str]) -> str:
    return " | ".join(sorted(answers)) or "no answer"


def _position(answer: dict) -> int:
    """Returns where an answer begins; -1 if the file does not say."""
    start = answer.get("answer_start")
    return start if type(start) is int else -1


def _entry(
    f1: float,
    question: str,
    context: str,
    answers: Mapping[str, int],
    prediction: str,
) -> Entry:
    """Returns a question that unfolds to its passage."""
    right_spans = [
        (start, start + len(text))
        for text, start in answers.items()
        if text and context[start : start + len(text)] == text
    ]
    # Prefer the occurrence that overlaps a right answer.
    predicted_span = max(
        _occurrences(context, prediction),
        key=lambda span: any(
            span[0] < end and start < span[1] for start, end in right_spans
        ),
        default=(0, 0),
    )
    lines = [
        f"predicted: {prediction or 'no answer'} (F1 {f1:.2f})",
        f"right: {_describe(answers)}",
    ]
    passage = [*_marked(context, right_spans, predicted_span)]
    return Entry(lines, [question], [passage])


def _occurrences(context: str, text: str) -> list[tuple[int, int]]:
    """Returns the (start, end) of each occurrence of a text, if not empty."""
    # A lookahead also finds occurrences that overlap.
    found = re.finditer(f"(?={re.escape(text)})", context) if text else ()
    return [(one.start(), one.start() + len(text)) for one in found]


def _marked(
    context: str,
    right_spans: Sequence[tuple[int, int]],
    predicted_span: tuple[int, int],
) -> Iterator[str | Span]:
    """Yields the passage, in pieces whose kind is where the spans overlap."""
    bounds = sorted({0, len(context), *predicted_span}.union(*right_spans))
    for start, end in itertools.pairwise(bounds):
        is_right = any(a <= start and end <= b for a, b in right_spans)
        is_predicted = predicted_span[0] <= start and end <= predicted_span[1]
        piece = context[start:end]
        if is_right:
            yield Span(piece, "both" if is_predicted else "right")
        else:
            yield Span(piece, "predicted") if is_predicted else piece
