"""Defines the scores of a model on a set, and their names in the files of runs.

data/ computes the scores, training/ writes them to the files, and cards/ shows
them in the README.md of the folder.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Final

# Files of a run with the scores of its model, and of the model's export.
DEV_RESULTS: Final = "eval_results.txt"
EXPORT_RESULTS: Final = "export_eval_results.txt"
# The fields of `LabelScores` that are scores.
LABEL_SCORES = ("precision", "recall", "f1", "support")
# Matches the name of a label's score in a file.
_LABEL_SCORE_NAME = re.compile(rf"(.+)_({'|'.join(LABEL_SCORES)})((?:_\w+)?)")


@dataclasses.dataclass(frozen=True)
class LabelScores:
    """The scores of one label, or of one type of entities.

    Attributes:
        label: the label.
        precision: fraction of its predictions that are right.
        recall: fraction of its examples that are found.
        f1: harmonic mean of precision and recall.
        support: number of its examples.
        set_suffix: suffix of the set's name, such as "_mm".
    """

    label: str
    precision: float
    recall: float
    f1: float
    support: float
    set_suffix: str = ""

    @property
    def title(self) -> str:
        """The label, and which set the scores are of, for a table."""
        return self.label + self.set_suffix

    @property
    def is_missed(self) -> bool:
        """Whether there are examples of the label, none of which is found."""
        return bool(self.support and not self.f1)

    def to_entries(self) -> dict[str, float]:
        """Returns {name in a file: score}."""
        return {
            f"{self.label}_{name}{self.set_suffix}": getattr(self, name)
            for name in LABEL_SCORES
        }


@dataclasses.dataclass(frozen=True)
class Scores:
    """The scores of a model on a set, or on several sets.

    Attributes:
        overall: {name: score} of all labels together.
        by_label: the scores of each label, [] if no label has its own.
    """

    overall: Mapping[str, float] = dataclasses.field(default_factory=dict)
    by_label: Sequence[LabelScores] = dataclasses.field(default_factory=list)

    def with_suffix(self, set_suffix: str) -> "Scores":
        """Returns the scores with the suffix of their set in their names."""
        return Scores(
            {
                f"{name}{set_suffix}": score
                for name, score in self.overall.items()
            },
            [
                dataclasses.replace(scores, set_suffix=set_suffix)
                for scores in self.by_label
            ],
        )

    def to_entries(self) -> dict[str, float]:
        """Returns {name in a file: score}.

        The names of a label's scores are LABEL_precision, LABEL_recall,
        LABEL_f1 and LABEL_support, with the suffix of the set at the end.
        """
        entries = {**self.overall}
        for label_scores in self.by_label:
            entries |= label_scores.to_entries()
        return entries


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The evaluation of the weights of a step.

    Attributes:
        step: number of steps that trained the weights.
        scores: scores of these weights.
    """

    step: int
    scores: Scores

    def to_entries(self) -> dict[str, float]:
        """Returns {name in eval_results.txt: score}, with Google's step."""
        return {**self.scores.to_entries(), "global_step": self.step}


def merge_scores(*parts: Scores) -> Scores:
    """Merges scores. Later ones replace earlier ones of the same name."""
    overall: dict[str, float] = {}
    by_label: dict[str, LabelScores] = {}
    for part in parts:
        overall |= part.overall
        by_label |= {scores.title: scores for scores in part.by_label}
    return Scores(overall, [*by_label.values()])


def parse_scores(entries: Mapping[str, float]) -> Scores:
    """Reverses `Scores.to_entries`, for a file that an earlier run wrote."""
    matches = {name: _LABEL_SCORE_NAME.fullmatch(name) for name in entries}
    rates: dict[tuple[str, str], dict[str, float]] = {}
    for name, match in matches.items():
        if match:
            label, score_name, set_suffix = match.groups()
            rates_of_label = rates.setdefault((label, set_suffix), {})
            rates_of_label[score_name] = entries[name]
    # Only a label's scores are complete. SQuAD's HasAns_f1, for example, is not
    # the score of a label.
    by_label = [
        LabelScores(label, **rates_of_label, set_suffix=set_suffix)
        for (label, set_suffix), rates_of_label in rates.items()
        if len(rates_of_label) == len(LABEL_SCORES)
    ]
    label_entries = {
        name for scores in by_label for name in scores.to_entries()
    }
    overall = {
        name: score
        for name, score in entries.items()
        if name not in label_entries
    }
    return Scores(overall, by_label)
