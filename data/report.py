"""Writes report.html, which shows the errors of a model on a dev set.

The page loads nothing and runs no script. Its template is beside this module.
"""

import collections
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict, TypeVar

import numpy as np

from data.classification.features import (
    InputExample,
    Label,
    names_of,
    number_of,
    split_texts,
)
from data.classification.label_decoding import LabelDecoder
from data.ner.entity_scoring import find_entities
from data.ner.sentence_windows import NerExample
from data.squad.answer_scoring import compute_exact, compute_f1
from data.squad.squad_questions import SquadFile, read_field
from data.text.tokenization import FullTokenizer
from files import atomic
from files.paths import StrPath
from modeling.folders.model_entries import OutputMode
from modeling.results import overall_scores, split_by_label

T = TypeVar("T")

# Counts of (label or entity type, outcome), such as ("PER", "missed").
OutcomeCounts = collections.Counter[tuple[str, str]]
# A normal variable is at most this many deviations from its mean in 95% of all
# cases.
_DEVIATIONS_95 = 1.96


class Heading(TypedDict):
    """The title and the scores of a report.

    Attributes:
        title: what was evaluated.
        scores: {name: score of all labels together}.
        rates: {label: its scores}.
        errors: mean errors in regression.
    """

    title: str
    scores: dict[str, float]
    rates: dict[str, dict[str, float]]
    errors: NotRequired[dict[str, float]]


class JudgedPrediction(NamedTuple):
    """A prediction for a text, as report.html shows it."""

    badness: float  # Above 0 if the prediction is wrong, largest for the worst.
    verdict: str
    text: str
    name: str | int  # id or number of the example
    # {"right", "predicted" or "unread": its spans, (start, end) in characters}.
    marks: Mapping[str, Sequence[tuple[int, int]]]

    def pieces(self, length: int | None = None) -> Iterator[tuple[str, str]]:
        """Cuts the first `length` characters where a mark begins or ends.

        Yields:
            (names of the piece's marks with spaces between them, piece).
        """
        text = self.text[:length]
        spans = itertools.chain(*self.marks.values())
        bounds = {0, len(text)}.union(*spans)
        for start, end in itertools.pairwise(sorted(bounds)):
            marks = [
                mark
                for mark, spans in self.marks.items()
                if any(
                    first <= start and end <= after for first, after in spans
                )
            ]
            if start < len(text):
                yield " ".join(marks), text[start:end]


def create_heading(
    task: str, data: StrPath, scores: Mapping[str, float]
) -> Heading:
    """Returns the title and scores of a report about a file or folder."""
    title = f"{task}: {os.path.basename(os.path.normpath(data))}"
    _, rates = split_by_label(scores)
    return {"title": title, "scores": overall_scores(scores), "rates": rates}


def write_label_report(
    output_file: StrPath,
    heading: Heading,
    *,
    examples: Sequence[InputExample],
    outputs: np.ndarray,
    decoder: LabelDecoder,
    tokenizer: FullTokenizer,
    max_seq_length: int,
) -> None:
    """Reports a classifier's predictions, the most confident errors first.

    `outputs` are the model's: float [examples, labels], or [examples, 1] in
    regression. The table counts which label was taken for which.
    """
    counts = OutcomeCounts()
    judged = []
    golds: list[Label] = []
    guesses = decoder.labels(outputs)
    for example, guess, probabilities in zip(
        examples, guesses, decoder.probabilities(outputs), strict=True
    ):
        right = example.label
        assert right is not None, "a dev set has labels"
        golds.append(right)
        badness, verdict = _judge_label(right, guess, probabilities, decoder)
        _count_labels(counts, right, guess, decoder.output_mode)
        text, unread = _join_texts(example, max_seq_length, tokenizer)
        judged.append(
            JudgedPrediction(
                badness, verdict, text, example.guid, {"unread": unread}
            )
        )
    baseline = None
    if decoder.output_mode == "regression":
        heading = {**heading, "errors": _mean_errors(golds, guesses)}
    else:
        label_names = (sorted({*names_of(label)}) for label in golds)
        baseline = _most_frequent(
            [", ".join(names) or "none" for names in label_names]
        )
    _write_page(output_file, heading, judged, counts, baseline)


def _count_labels(
    counts: OutcomeCounts, right: Label, guess: Label, output_mode: OutputMode
) -> None:
    """Counts the outcome of a prediction for each label. Not in regression."""
    if output_mode == "classification":
        name = str(right)
        counts.update([(name, f"as {guess}"), (name, "support")])
    elif output_mode == "multilabel":
        names = names_of(right)
        outcomes = _compare(names, names_of(guess))
        counts.update((name, outcome) for outcome, name in outcomes)
        counts.update((name, "support") for name in {*names})


def _join_texts(
    example: InputExample, max_seq_length: int, tokenizer: FullTokenizer
) -> tuple[str, list[tuple[int, int]]]:
    """Returns an example's texts as one, and the spans that no model reads."""
    text = ""
    unread = []
    for beginning, rest in split_texts(example, max_seq_length, tokenizer):
        if text:
            text += " | "
        text += beginning + rest
        if rest:
            unread.append((len(text) - len(rest), len(text)))
    return text, unread


def _most_frequent(answers: Sequence[str]) -> tuple[str, float] | None:
    """Returns the most frequent answer, and its share.

    None without answers.
    """
    for answer, count in collections.Counter(answers).most_common(1):
        return answer, count / len(answers)
    return None


def _mean_errors(
    golds: Sequence[Label], guesses: Sequence[Label]
) -> dict[str, float]:
    """Returns the mean error of the model and of always predicting the mean."""
    right = np.array([*map(number_of, golds)])
    predicted = np.array([*map(number_of, guesses)])
    if not len(right):
        return {}
    mean = right.mean()
    return {
        "mean": mean,
        "always": np.abs(right - mean).mean(),
        "model": np.abs(right - predicted).mean(),
    }


def interval_of(num_right: int, num_examples: int) -> tuple[float, float]:
    """Returns Wilson's 95% interval of the share of right examples.

    If the examples are a random sample of texts, 19 of 20 such intervals
    contain the share among all texts.
    """
    share = num_right / num_examples
    square = _DEVIATIONS_95**2 / num_examples
    center = share + square / 2
    spread = (square * (share * (1 - share) + square / 4)) ** 0.5
    low, high = ((center + sign * spread) / (1 + square) for sign in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def _judge_label(
    right: Label,
    guess: Label,
    probabilities: np.ndarray,
    decoder: LabelDecoder,
) -> tuple[float, str]:
    """Returns the badness and the verdict of a prediction.

    `probabilities` contains that of each label.
    """
    if decoder.output_mode == "regression":
        number, predicted = number_of(right), number_of(guess)
        badness = abs(predicted - number)
        verdict = f"Right: {number:.4g}. Predicted: {predicted:.4g}."
    elif decoder.output_mode == "multilabel":
        names, guessed = names_of(right), names_of(guess)
        wrong = {*names} ^ {*guessed}
        errors = [decoder.label_list.index(name) for name in wrong]
        certainties = np.maximum(probabilities, 1 - probabilities)
        badness = max(certainties[errors], default=0.0)
        verdict = (
            f"Right: {', '.join(names) or 'none'}. "
            f"Predicted: {', '.join(guessed) or 'none'}."
        )
    else:
        # Begin the right ones with the least certain one.
        best = probabilities.max()
        badness = best if right != guess else -best
        verdict = f"Right: {right}. Predicted: {guess} ({best:.3f})."
    return badness, verdict


def write_answer_report(
    output_file: StrPath,
    heading: Heading,
    file: SquadFile,
    predictions: Mapping[str, str],
    version_2_with_negative: bool = False,
) -> None:
    """Reports the answers to SQuAD's questions, the lowest F1 first.

    `predictions` is {question id: answer}. The report skips questions without a
    prediction, and without right answers.
    """
    counts = OutcomeCounts()
    judged = []
    num_without = 0
    for context, qa, where in file.questions:
        guess = predictions.get(read_field(qa, "id", str, where))
        answers = read_field(qa, "answers", list, where)
        if guess is None or not (answers or version_2_with_negative):
            continue
        texts = {
            read_field(answer, "text", str, where) for answer in answers
        } or {""}
        f1 = max(compute_f1(text, guess) for text in texts)
        is_right = any(compute_exact(text, guess) for text in texts)
        wrong = "wrong" if guess else "missed"
        counts["answers", "right" if is_right else wrong] += 1
        counts["answers", "support"] += 1
        right = [
            (start, start + len(answer["text"]))
            for answer in answers
            if type(start := answer.get("answer_start")) is int
        ]
        matches = re.finditer(re.escape(guess), context)
        places = [match.span() for match in matches]
        places.sort(key=lambda span: span not in right)  # a right one first
        question = read_field(qa, "question", str, where)
        golds = " | ".join(sorted(texts)) or "none"
        verdict = f"{question} Right: {golds}. Predicted: {guess or 'none'}."
        badness = 0 if is_right else 2 - f1
        marks = {"right": right, "predicted": places[:1]}
        judged.append(
            JudgedPrediction(badness, verdict, context, qa["id"], marks)
        )
        num_without += "" in texts
    baseline = None
    if version_2_with_negative and judged:
        baseline = "no answer", num_without / len(judged)
    _write_page(output_file, heading, judged, counts, baseline)


def write_entity_report(
    output_file: StrPath,
    heading: Heading,
    examples: Sequence[NerExample],
    predicted_tags: Sequence[Sequence[str]],
) -> None:
    """Reports a tagger's entities, the sentences with most errors first."""
    counts = OutcomeCounts()
    judged = []
    num_without = 0
    for example, tags in zip(examples, predicted_tags, strict=True):
        text = " ".join(example.words)
        right = _entity_spans(example.words, example.labels)
        predicted = _entity_spans(example.words, tags)
        outcomes = _compare(right, predicted)
        counts.update(
            (entity_type or "all", outcome)
            for outcome, (entity_type, _, _) in outcomes
        )
        counts.update(
            (entity_type or "all", "support") for entity_type, _, _ in right
        )
        errors = [
            f"{outcome}: {text[start:end]} ({entity_type or 'entity'})"
            for outcome, (entity_type, start, end) in outcomes
            if outcome != "right"
        ]
        marks = {
            "right": [(start, end) for _, start, end in right],
            "predicted": [(start, end) for _, start, end in predicted],
        }
        verdict = "; ".join(errors) or "right"
        judged.append(
            JudgedPrediction(len(errors), verdict, text, example.guid, marks)
        )
        num_without += not right
    baseline = None
    if judged:
        baseline = "no entity", num_without / len(judged)
    _write_page(output_file, heading, judged, counts, baseline)


def _entity_spans(
    words: Sequence[str], tags: Sequence[str]
) -> list[tuple[str, int, int]]:
    """Returns (type, start, end) of entities, in characters of the sentence."""
    starts = [0, *itertools.accumulate(len(word) + 1 for word in words)]
    return [
        (entity_type, starts[first], starts[after] - 1)
        for entity_type, first, after in find_entities(tags)
    ]


def _compare(right: Iterable[T], predicted: Iterable[T]) -> list[tuple[str, T]]:
    """Returns ("right", "wrong" or "missed", answer) of all answers."""
    right = dict.fromkeys(right)
    predicted = dict.fromkeys(predicted)
    return [
        *(
            ("right" if answer in right else "wrong", answer)
            for answer in predicted
        ),
        *(("missed", answer) for answer in right if answer not in predicted),
    ]


def _write_page(
    file: StrPath,
    heading: Heading,
    judged: list[JudgedPrediction],
    counts: OutcomeCounts,
    baseline: tuple[str, float] | None,
) -> None:
    """Writes the page of a report.

    `baseline` is what a program could always answer, and the share of examples
    of which that is right.
    """
    # Import late, because only training writes reports.
    import jinja2

    num_right = sum(prediction.badness <= 0 for prediction in judged)
    template = Path(__file__).with_suffix(".html").read_text("utf-8")
    page = jinja2.Template(template, autoescape=True).render(
        **heading,
        counts=counts,
        baseline=baseline,
        num_right=num_right,
        interval=interval_of(num_right, len(judged)) if judged else None,
        used={
            mark
            for prediction in judged
            for mark, spans in prediction.marks.items()
            if spans
        },
        judged=sorted(judged, key=lambda prediction: -prediction.badness),
    )
    # JSON can contain a lone surrogate, which UTF-8 cannot encode.
    atomic.write_bytes(file, page.encode(errors="replace"))
