"""Writes report.html, which shows the errors of a model on a dev set.

The page loads nothing and runs no script. Its template is beside this module.
Each task creates its own Report: data/classification/label_report.py,
data/squad/answer_report.py and data/ner/predicted_entities.py.
"""

import collections
import dataclasses
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from data.text.characters import CharacterSpan
from files import atomic
from files.paths import StrPath
from model_folders.scores import LabelScores, Scores

T = TypeVar("T")

# Counts of (label or entity type, outcome), such as ("PER", "missed"). The
# outcome "support" counts the right answers.
OutcomeCounts: TypeAlias = collections.Counter[tuple[str, str]]
# A normal variable is at most this many deviations from its mean in 95% of all
# cases.
_DEVIATIONS_95 = 1.96


class Heading(NamedTuple):
    """The title and the scores of a report.

    Attributes:
        title: what was evaluated.
        scores: {name: score of all labels together}.
        label_scores: {label: its scores}.
    """

    title: str
    scores: Mapping[str, float]
    label_scores: Mapping[str, LabelScores]


class JudgedPrediction(NamedTuple):
    """A prediction for a text, as report.html shows it.

    Attributes:
        badness: above 0 if the prediction is wrong, largest for the worst.
        verdict: what was right, and what was predicted.
        text: the text.
        name: id or number of the example.
        marks: {"right", "predicted" or "unread": its spans in the text}.
    """

    badness: float
    verdict: str
    text: str
    name: str | int
    marks: Mapping[str, Sequence[CharacterSpan]]

    def pieces(self, length: int | None = None) -> Iterator[tuple[str, str]]:
        """Cuts the first `length` characters where a mark begins or ends.

        Yields:
            (names of the piece's marks with spaces between them, piece).
        """
        text = self.text[:length]
        bounds = {0, len(text)}
        for spans in self.marks.values():
            bounds.update(*spans)
        for start, end in itertools.pairwise(sorted(bounds)):
            if start >= len(text):
                return
            marks = [
                mark
                for mark, spans in self.marks.items()
                if _is_inside(start, end, spans)
            ]
            yield " ".join(marks), text[start:end]


def _is_inside(start: int, end: int, spans: Sequence[CharacterSpan]) -> bool:
    return any(span.start <= start and end <= span.end for span in spans)


class Baseline(NamedTuple):
    """An answer that a program could always give, and how often it is right.

    Attributes:
        answer: what the program would always say, such as "ham".
        share: the share of examples for which the answer is right.
    """

    answer: str
    share: float


def create_heading(
    task_name: str, data_path: StrPath, scores: Scores
) -> Heading:
    """Returns the title and scores of a report about a file or folder."""
    title = f"{task_name}: {os.path.basename(os.path.normpath(data_path))}"
    label_scores = {label.title: label for label in scores.by_label}
    return Heading(title, scores.overall, label_scores)


@dataclasses.dataclass
class Report:
    """The predictions for a dev set, and the remarks about all of them.

    Attributes:
        heading: the title and the scores.
        judged: the predictions, in any order.
        counts: number of each outcome. Empty in regression.
        baseline: the score of always giving one answer, None to leave it out.
        mean_errors: in regression, the mean error of the model, and of always
            predicting the mean.
    """

    heading: Heading
    judged: list[JudgedPrediction] = dataclasses.field(default_factory=list)
    counts: OutcomeCounts = dataclasses.field(default_factory=OutcomeCounts)
    baseline: Baseline | None = None
    mean_errors: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def write(self, output_file: StrPath) -> None:
        """Writes the page, the worst predictions first."""
        # Import late, because only training writes reports.
        import jinja2

        num_right = sum(prediction.badness <= 0 for prediction in self.judged)
        interval = None
        if self.judged:
            interval = wilson_interval(num_right, len(self.judged))
        template = Path(__file__).with_suffix(".html").read_text("utf-8")
        page = jinja2.Template(template, autoescape=True).render(
            **self.heading._asdict(),
            errors=self.mean_errors,
            counts=self.counts,
            baseline=self.baseline,
            num_right=num_right,
            interval=interval,
            used={
                mark
                for prediction in self.judged
                for mark, spans in prediction.marks.items()
                if spans
            },
            judged=sorted(
                self.judged, key=lambda prediction: -prediction.badness
            ),
        )
        # JSON can contain a lone surrogate, which UTF-8 cannot encode.
        atomic.write_bytes(output_file, page.encode(errors="replace"))


def wilson_interval(num_right: int, num_examples: int) -> tuple[float, float]:
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


class Outcome(NamedTuple, Generic[T]):
    """An answer, and how it was predicted.

    Attributes:
        name: "right", "wrong" or "missed".
        answer: a label or an entity.
    """

    name: str
    answer: T


def list_outcomes(
    gold: Iterable[T], predicted: Iterable[T]
) -> list[Outcome[T]]:
    """Compares the right answers with the predicted ones.

    Examples:
        >>> for outcome in list_outcomes(gold=["a", "b"], predicted=["b", "c"]):
        ...     print(outcome.name, outcome.answer)
        right b
        wrong c
        missed a
    """
    gold = dict.fromkeys(gold)
    predicted = dict.fromkeys(predicted)
    outcomes = [
        Outcome("right" if answer in gold else "wrong", answer)
        for answer in predicted
    ]
    missed = [answer for answer in gold if answer not in predicted]
    return outcomes + [Outcome("missed", answer) for answer in missed]
