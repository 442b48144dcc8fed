"""Base class of processors: the sets, labels and metrics of a task."""

import abc
import dataclasses
from collections.abc import Sequence

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.scoring import ScoreFunction
from data.sets.held_sets import HeldSets
from data.sets.set_names import BaseSet, SetName, base_set_of
from model_folders.model_json_types import (
    ClassifierSettings,
    OutputMode,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskDefinition:
    """What a classification task trains, and how its predictions are scored.

    Attributes:
        metrics: names of the metrics that score the task, the main metric
            first. If (), the kind of the labels decides.
        score: computes these metrics. If None, `metrics.compute_metrics` does.
        is_embedding: whether the task trains vectors of texts, whose cosines
            are compared, and no outputs for labels.
        is_ranking: whether an example is a query and a passage, and its label a
            relevance from 0 to 1. The loss is `RankingLoss`.
        may_be_cross_encoder: whether a regression of single texts may be
            exported for pairs too.
    """

    metrics: tuple[str, ...] = ("eval_accuracy",)
    score: ScoreFunction | None = None
    is_embedding: bool = False
    is_ranking: bool = False
    may_be_cross_encoder: bool = False


class ClassificationProcessor(abc.ABC):
    """Base class of processors: the sets, labels and metrics of a task.

    A subclass says in `read_labels` what the labels are.

    Attributes:
        sets: the sets of the task, for `read` and `take`.
        definition: what is trained, and how it is scored.
        output_mode: "classification", "multilabel" or "regression".
        text_columns: column of the text, or the two columns of a pair. () if
            only the examples show whether they are single texts or pairs.
        metrics: names of the metrics that score the task (metrics.py), the main
            metric first.
        dev_sets: names of the sets to evaluate.
        test_sets: names of the sets to predict.
        settings: settings to record with the weights.
    """

    dev_sets: Sequence[SetName] = ("dev",)
    test_sets: Sequence[SetName] = ("test",)

    def __init__(
        self,
        sets: HeldSets[InputExample],
        definition: TaskDefinition = TaskDefinition(),
        *,
        output_mode: OutputMode = "classification",
        text_columns: Sequence[str | int] = (),
    ) -> None:
        self.definition = definition
        self.output_mode = output_mode
        self.text_columns = text_columns
        self.metrics = (
            definition.metrics or metrics.METRICS_OF_MODE[output_mode]
        )
        self.settings: ClassifierSettings = {}
        self.sets = sets

    @property
    def num_texts(self) -> int | None:
        """1 for single texts, 2 for pairs, None if only a set can tell."""
        return len(self.text_columns) or None

    def read_num_texts(self) -> int:
        """Returns 2 if the train set contains pairs, else 1.

        Raises:
            ValueError: the train set is malformed.
            OSError: the train set cannot be read.
        """
        is_pair = any(example.text_b for example in self.read("train"))
        return 2 if is_pair else 1

    def read(self, set_name: BaseSet) -> list[InputExample]:
        """Returns the examples of a set, and holds them, as `HeldSets.read`."""
        return self.sets.read(set_name)

    def take(self, set_name: SetName) -> list[InputExample] | None:
        """Returns a set as `read` does, and holds it no longer.

        Returns None if a set is missing that the task need not have.
        """
        return self.sets.take(base_set_of(set_name))

    @abc.abstractmethod
    def read_labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression.

        If only the train set names the labels, the first call reads it.
        """

    def score(
        self,
        examples: Sequence[InputExample],
        gold_labels: LabelArray,
        predictions: LabelArray,
        labels: Sequence[str] | None = None,
    ) -> dict[str, float]:
        """Computes the task's metrics and each label's scores, {name: value}.

        Args:
            examples: the examples whose label is known.
            gold_labels: right label of each example.
            predictions: predicted label of each example.
            labels: names of the task's labels, None in regression.
        """
        if self.definition.score:
            return self.definition.score(examples, gold_labels, predictions)
        return metrics.compute_metrics(
            self.metrics, gold_labels, predictions, labels
        )
