"""Reports the answers to the questions of a SQuAD file."""

import re
from collections.abc import Mapping
from typing import NotRequired, TypedDict

from data.predictions.report import Baseline, Heading, JudgedPrediction, Report
from data.squad.answer_scoring import compute_exact, compute_f1
from data.squad.squad_questions import Question, SquadFile, read_field
from data.text.characters import CharacterSpan
from files.paths import StrPath


class _Answer(TypedDict):
    """A right answer, of which only the type of `text` was checked."""

    text: str
    answer_start: NotRequired[object]


def write_answer_report(
    output_file: StrPath,
    heading: Heading,
    file: SquadFile,
    predictions: Mapping[str, str],
    version_2_with_negative: bool = False,
) -> None:
    """Reports the answers to SQuAD's questions, the lowest F1 first.

    The page skips questions without a prediction. It also skips questions
    without right answers, unless `version_2_with_negative`.

    Args:
        output_file: path of the page.
        heading: the title and the scores.
        file: the questions with their right answers.
        predictions: {question id: answer}.
        version_2_with_negative: True if questions may have no answer.
    """
    report = Report(heading)
    num_without_answer = 0
    for question in file.questions:
        _, qa, place = question
        predicted = predictions.get(read_field(qa, "id", str, place))
        answers = read_field(qa, "answers", list, place)
        if predicted is None or not (answers or version_2_with_negative):
            continue
        texts = {
            read_field(answer, "text", str, place) for answer in answers
        } or {""}
        judged = _create_judged_prediction(question, answers, texts, predicted)
        outcome = "right"
        if judged.badness > 0:
            outcome = "wrong" if predicted else "missed"
        report.counts["answers", outcome] += 1
        report.counts["answers", "support"] += 1
        report.judged.append(judged)
        num_without_answer += "" in texts
    if version_2_with_negative and report.judged:
        share = num_without_answer / len(report.judged)
        report.baseline = Baseline("no answer", share)
    report.write(output_file)


def _create_judged_prediction(
    question: Question,
    answers: list[_Answer],
    texts: set[str],
    predicted: str,
) -> JudgedPrediction:
    """Compares an answer with the right answers, and marks all in the passage.

    `texts` are the texts of the right `answers`, "" for no answer.
    """
    context, qa, place = question
    f1 = max(compute_f1(text, predicted) for text in texts)
    is_right = any(compute_exact(text, predicted) for text in texts)
    gold_spans = []
    for answer in answers:
        start = answer.get("answer_start")
        if type(start) is int:
            end = start + len(answer["text"])
            gold_spans.append(CharacterSpan(start, end))
    matches = re.finditer(re.escape(predicted), context)
    predicted_spans = [CharacterSpan(*match.span()) for match in matches]
    # A right one comes first.
    predicted_spans.sort(key=lambda span: span not in gold_spans)
    asked = read_field(qa, "question", str, place)
    gold_texts = " | ".join(sorted(texts)) or "none"
    return JudgedPrediction(
        badness=0 if is_right else 2 - f1,
        verdict=(
            f"{asked} Right: {gold_texts}. Predicted: {predicted or 'none'}."
        ),
        text=context,
        name=read_field(qa, "id", str, place),
        marks={"right": gold_spans, "predicted": predicted_spans[:1]},
    )
