"""Defines the interface of a fine-tuning task.

A task is one class. It reads and encodes the examples, creates the model, and
turns the model's outputs into scores and files. fine_tuning.py calls its
methods and trains the model. docs/adding_a_task.md shows how to add a task in a
single file.
"""

import abc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from training.config import FineTuningConfig

if TYPE_CHECKING:
    import modeling
    from modeling.losses import Loss

# Batches of a prediction: (features, the model's outputs), as NumPy arrays.
Batches = Iterable[tuple[Mapping[str, np.ndarray], Any]]


class Task(abc.ABC):
    """One fine-tuning task: subclass it, and pass it to `fine_tuning.run`.

    `fine_tuning.run` calls the methods in the order of their definitions.

    Args:
        options: the flags that all tasks share.

    Attributes:
        options: the flags that all tasks share.
        splits: {"train", "eval" or "predict": names of the splits to use for
            this purpose}. A second split for evaluation is named "eval_SUFFIX".
            The names of its scores then end in "_SUFFIX".
        examples: {split: its examples} for evaluation and prediction. Set
            before `encode` is called.
        tokenizer: FullTokenizer of the texts, which `prepare` loads. Its files
            are written beside the weights. None without texts.
        loss: loss to minimize and report, such as `modeling.ClassifierLoss()`.
        train_loss: loss to minimize in training, if it differs from `loss`
            (for example with weighted classes). None uses `loss`.
        metrics: names of the scores of `evaluate` by which the best step may be
            chosen. Higher must be better. The first is the default.
        hundredth: one percentage point of the first metric: 0.01 if the metric
            is a fraction, 1 if it is a percentage.
        labels: labels in the order of the model's outputs, saved beside the
            model's checkpoints. None if the task has no labels.
        label_words: alternative names of the labels, in the same order, which
            the model of another project may use. May be empty.
        problem_type: `problem_type` of a classifier in a transformers
            configuration. None if the labels determine it.
        sequences_per_example: number of sequences per example.
        counts_examples: True if an epoch's length is the number of examples,
            False if it is the number of records.
        has_eval_loss: whether the records of "eval" contain the features that
            the loss reads.
        eval_files: files from which `evaluate` reads the right answers, if the
            records do not contain them.
        settings: {name: value} of the task's settings that must not change when
            a run is resumed.
    """

    options: FineTuningConfig
    splits: Mapping[str, Sequence[str]] = {
        "train": ["train"],
        "eval": ["eval"],
        "predict": ["predict"],
    }
    examples: dict[str, Sequence[Any]] = {}
    tokenizer: Any = None
    loss: "Loss"
    train_loss: "Loss | None" = None
    metrics: Sequence[str]
    hundredth: float = 0.01
    labels: Sequence[str] | None = None
    label_words: Sequence[str] = ()
    problem_type: str | None = None
    sequences_per_example: int = 1
    counts_examples: bool = False
    has_eval_loss: bool = True
    eval_files: Sequence[str] = ()
    settings: Mapping[str, Any] = {}

    def __init__(self, options: FineTuningConfig) -> None:
        self.options = options

    @property
    def output_names(self) -> list[Sequence[str]]:
        """Possible names of the outputs: `labels` and `label_words`, if set."""
        return [*filter(None, [self.labels, self.label_words])]

    def prepare(
        self,
        config: "modeling.BertConfig",
        saved_labels: Sequence[str] | None,
    ) -> None:
        """Checks the task's own flags, and loads the tokenizer and the labels.

        `fine_tuning.run` calls this method before any slow work.

        Args:
            config: configuration of the model.
            saved_labels: labels that the model was trained with. None if they
                are unknown.

        Raises:
            ValueError: a flag contradicts another flag or a file.
            OSError: a file is missing.
        """
        return

    @abc.abstractmethod
    def read_examples(self, split: str) -> Sequence[Any] | None:
        """Returns the examples of a split, or None to skip the split.

        Raises:
            ValueError: a line is malformed. The message names the line.
            OSError: a file is missing.
        """

    @abc.abstractmethod
    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """Yields the serialized tf.train.Examples of a split, in order."""

    @abc.abstractmethod
    def feature_spec(self, split: str) -> Mapping[str, Any]:
        """Returns the format of a split's records, {name: tf.io feature}."""

    @abc.abstractmethod
    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> Any:
        """Creates the task's model, an instance of a class in `modeling`.

        Args:
            config: configuration of the model.
            **options: arguments that every model of `modeling` accepts.
        """

    def pool(self, split: str, batches: Batches) -> Batches:
        """Converts batches of records to the batches that `evaluate` reads.

        By default returns `batches`. A task that writes several records per
        example may return batches of examples.
        """
        return batches

    @abc.abstractmethod
    def evaluate(self, split: str, batches: Batches) -> dict[str, float]:
        """Computes the scores of the model's outputs, {name: value}.

        Add a new metric here. If the best step may be chosen by this metric,
        also add its name to `metrics`.
        """

    def write_report(
        self, split: str, batches: Batches, output_dir: str
    ) -> None:
        """Writes a report on an evaluated split. By default does nothing.

        The batches are only computed if they are read.
        """
        return

    @abc.abstractmethod
    def write_predictions(
        self, split: str, batches: Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predictions of a split.

        Returns:
            scores of the predictions, or {} if the right answers are unknown.
        """

    @abc.abstractmethod
    def export(self, export_dir: str, model: Any) -> None:
        """Writes the model in the formats of --export_format."""
