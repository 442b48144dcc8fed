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

from data.text.tokenization import load_tokenizer
from modeling.config_files import load_config
from training.fine_tuning_config import FineTuningConfig

if TYPE_CHECKING:
    import keras

    import modeling
    from modeling.losses import Loss

# Batches of a prediction: (features, the model's outputs), as NumPy arrays.
Batches = Iterable[tuple[Mapping[str, np.ndarray], Any]]


class Task(abc.ABC):
    """One fine-tuning task: subclass it, and pass it to `fine_tuning.run`.

    The constructor of a subclass checks the task's own flags, and sets its
    loss and labels. Then `fine_tuning.run` calls the methods in the order of
    their definitions.

    Args:
        options: the flags, as `resolve` completed them.

    Attributes:
        options: the flags.
        splits: {"train", "eval" or "predict": names of the splits to use for
            this purpose}. A second split for evaluation is named "eval_SUFFIX".
            The names of its scores then end in "_SUFFIX".
        examples: {split: its examples} for evaluation and prediction. Set
            before `encode` is called.
        longest: number of the model's positions.
        tokenizer: FullTokenizer of --vocab_file. Its files are written beside
            the weights.
        loss: loss to minimize, such as `modeling.ClassifierLoss()`.
        eval_loss: loss to report in evaluations. None if the records of "eval"
            lack the features that a loss reads.
        metrics: names of the scores of `evaluate` by which the best step may be
            chosen. Higher must be better. The first is the default.
        hundredth: one percentage point of the first metric: 0.01 if the metric
            is a fraction, 1 if it is a percentage.
        labels: labels in the order of the model's outputs, saved beside the
            model's checkpoints. None if the task has no labels.
        label_words: alternative names of the labels, in the same order, which
            the model of another project may use. May be empty.
        counts_examples: True if an epoch's length is the number of examples,
            False if it is the number of records.
        eval_files: files from which `evaluate` reads the right answers, if the
            records do not contain them.
        settings: {name: value} of the task's settings that must not change when
            a run is resumed. An export records them too.
        export_settings: {name: value} of settings of the head that only an
            export records, or records with another value than `settings`. The
            names are those of `serving.export`.
    """

    options: FineTuningConfig
    splits: Mapping[str, Sequence[str]] = {
        "train": ["train"],
        "eval": ["eval"],
        "predict": ["predict"],
    }
    examples: dict[str, Sequence[Any]]
    loss: "Loss"
    eval_loss: "Loss | None" = None
    metrics: Sequence[str]
    hundredth: float = 0.01
    labels: Sequence[str] | None = None
    label_words: Sequence[str] = ()
    counts_examples: bool = False
    eval_files: Sequence[str] = ()
    settings: Mapping[str, Any] = {}
    export_settings: Mapping[str, Any] = {}

    def __init__(self, options: FineTuningConfig) -> None:
        self.options = options
        self.examples = {}
        config = load_config(options.bert_config_file)
        self.longest = config.max_position_embeddings
        start = options.init_checkpoint or options.weights
        self.tokenizer = load_tokenizer(options, config.vocab_size, start)

    @property
    def output_names(self) -> list[Sequence[str]]:
        """Possible names of the outputs: `labels` and `label_words`, if set."""
        return [*filter(None, [self.labels, self.label_words])]

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
    ) -> "keras.Model":
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

        The best step may be chosen by the scores named in `metrics`.
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
