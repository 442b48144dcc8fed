"""The processor of a task: its sets, and how predictions are scored."""

import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.metrics import ScoreFunction
from data.sets.held_sets import HeldSets
from data.sets.set_names import SetName, base_set_of
from model_folders.head_settings import ClassifierSettings
from model_folders.output_modes import CLASSIFICATION, OutputMode
from model_folders.scores import Scores

# What a model learns of texts: their labels, the relevances of passages to a
# query, or vectors, whose cosines are compared.
Learned: TypeAlias = Literal["labels", "relevances", "vectors"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskDefinition:
    """The metrics of a task, and the kind of outputs that its model learns.

    training/ chooses the class of the task by `learns_vectors`, and the loss by
    `learns_relevances`.

    Attributes:
        metrics: names of the metrics that score the task, the main metric
            first. If (), the output mode decides.
        score: computes these metrics. If None, `metrics.compute_metrics` does.
        learns: what the model learns. With "relevances", an example is a query
            and a passage, and its label a number from 0 to 1. With "vectors",
            the model has no outputs for labels.
        may_be_cross_encoder: whether a regression of single texts may be
            exported for pairs too.
    """

    metrics: tuple[str, ...] = ("eval_accuracy",)
    score: ScoreFunction | None = None
    learns: Learned = "labels"
    may_be_cross_encoder: bool = False

    @property
    def learns_vectors(self) -> bool:
        """Whether the model learns vectors of texts, and no labels."""
        return self.learns == "vectors"

    @property
    def learns_relevances(self) -> bool:
        """Whether the model learns to rank the passages of a query."""
        return self.learns == "relevances"


class ClassificationProcessor:
    """Offers the sets and the scores of a classification task.

    Call `sets.read` and `sets.read_labels` for the examples and the labels.

    Args:
        sets: the sets of the task.
        definition: what is trained, and how it is scored.
        output_mode: "classification", "multilabel" or "regression".
        num_texts: 1 for single texts, 2 for pairs, None if only the examples
            show it.
        fixed_head_settings: head settings of each run of the task, None for {}.

    Attributes:
        sets, definition, output_mode, num_texts, fixed_head_settings: the
            arguments.
        metrics: names of the metrics that score the task (metrics.py), the main
            metric first.
        dev_sets: names of the sets to evaluate.
        test_sets: names of the sets to predict.
    """

    dev_sets: Sequence[SetName] = ("dev",)
    test_sets: Sequence[SetName] = ("test",)

    def __init__(
        self,
        sets: HeldSets[InputExample],
        definition: TaskDefinition = TaskDefinition(),
        *,
        output_mode: OutputMode = CLASSIFICATION,
        num_texts: int | None = None,
        fixed_head_settings: ClassifierSettings | None = None,
    ) -> None:
        self.sets = sets
        self.definition = definition
        self.output_mode = output_mode
        self.num_texts = num_texts
        self.metrics = (
            definition.metrics or metrics.METRICS_OF_MODE[output_mode]
        )
        self.fixed_head_settings: ClassifierSettings = fixed_head_settings or {}

    def take(self, set_name: SetName) -> list[InputExample] | None:
        """Takes one of `dev_sets`, `test_sets` or the train set from `sets`.

        Returns None if a set is missing that the task need not have. Only a
        task with two dev sets has such sets, and overrides this method.
        """
        return self.sets.take(base_set_of(set_name))

    def score(
        self,
        examples: Sequence[InputExample],
        gold_labels: LabelArray,
        predictions: LabelArray,
        labels: Sequence[str] | None = None,
    ) -> Scores:
        """Computes the task's metrics, and the scores of each label.

        Args:
            examples: the examples whose label is known.
            gold_labels: right label of each example.
            predictions: predicted label of each example.
            labels: names of the task's labels, None in regression.
        """
        if self.definition.score:
            return self.definition.score(examples, gold_labels, predictions)
        overall = metrics.compute_metrics(
            self.metrics, gold_labels, predictions
        )
        if not labels:
            return Scores(overall)
        return Scores(
            overall, metrics.score_each_label(gold_labels, predictions, labels)
        )
