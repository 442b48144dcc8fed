"""Writes an HTML report of right and wrong answers."""

import html
import os
from collections.abc import Iterable, Iterator, Mapping

from data.io import html_report
from data.squad.reading import field, read_questions
from data.squad.scoring import compute_exact, compute_f1, has_gold_answers


def write_report(
    output_file: str | os.PathLike[str],
    input_file: str | os.PathLike[str],
    predictions: Mapping[str, str],
    version_2_with_negative: bool = False,
    max_questions: int = 1000,
) -> None:
    """Writes a self-contained HTML page of questions, the worst first.

    Args:
        output_file: the page.
        input_file: SQuAD JSON with the right answers.
        predictions: dict of question id to text, "" for no answer. Questions
            without a prediction, or without gold answers, are left out.
        version_2_with_negative: whether questions may have no answer.
        max_questions: int, maximum to show of those answered wrong, and right.

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
        exact = max(compute_exact(text, prediction) for text in answers)
        entry = (f1, question, context, answers, prediction)
        (right if exact else wrong).append(entry)
    wrong.sort(key=lambda entry: entry[0])

    summary = (
        f"{len(right)} of {len(right) + len(wrong)} answers are exactly right."
    )

    def parts() -> Iterator[str]:
        yield f"<p>{summary}</p>"
        yield (
            '<p>In the passages: <span class="right">a right answer</span>, '
            '<span class="predicted">the predicted one</span>, '
            '<span class="both">both</span>.</p>'
        )
        for title, entries in (("Wrong", wrong), ("Right", right)):
            shown = [
                _question_html(*entry) for entry in entries[:max_questions]
            ]
            yield from html_report.section(title, shown, len(entries))

    html_report.write(output_file, "Answers to SQuAD", parts())


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


def _question_html(
    f1: float,
    question: str,
    context: str,
    answers: Mapping[str, int],
    prediction: str,
) -> str:
    """Returns a question that expands to its passage."""
    right = _describe(answers)
    right_spans = [
        (start, start + len(text))
        for text, start in answers.items()
        if text and context[start : start + len(text)] == text
    ]
    spans = _occurrences(context, prediction)
    # Prefer the occurrence that overlaps a right answer.
    predicted_span = next(
        (
            (start, end)
            for start, end in spans
            if any(start < b and a < end for a, b in right_spans)
        ),
        next(iter(spans), (0, 0)),
    )
    return (
        f"<details><summary><b>{html.escape(question)}</b><br>"
        f"predicted: {html.escape(prediction or 'no answer')} (F1 {f1:.2f})"
        f"<br>right: {html.escape(right)}</summary>"
        f"<p>{_highlight(context, right_spans, predicted_span)}</p></details>\n"
    )


def _occurrences(context: str, text: str) -> list[tuple[int, int]]:
    """Returns the (start, end) of each occurrence of a text."""
    spans = []
    start = context.find(text) if text else -1
    while start != -1:
        spans.append((start, start + len(text)))
        start = context.find(text, start + 1)
    return spans


def _highlight(
    context: str,
    right_spans: list[tuple[int, int]],
    predicted_span: tuple[int, int],
) -> str:
    """Returns the passage as HTML, the spans in colour where they overlap."""
    bounds = sorted({0, len(context), *predicted_span}.union(*right_spans))
    parts = []
    for start, end in zip(bounds, bounds[1:], strict=False):
        is_right = any(a <= start and end <= b for a, b in right_spans)
        is_predicted = predicted_span[0] <= start and end <= predicted_span[1]
        part = html.escape(context[start:end])
        if is_right or is_predicted:
            kind = "both" if is_right and is_predicted else "predicted"
            if not is_predicted:
                kind = "right"
            part = f'<span class="{kind}">{part}</span>'
        parts.append(part)
    return "".join(parts)
