"""Interface of a fine-tuning task; fine_tuning.py does everything else.

A task is one class. It reads and encodes the examples, creates the model, and
turns the model's outputs into scores and files. docs/adding_a_task.md shows how
to add a task in a single file.
"""

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from data.text.tokenization import FullTokenizer
from training.command_line import cli
from training.config import FineTuningConfig

if TYPE_CHECKING:
    import modeling
    from modeling.losses import Loss

# Batches of evaluation: (features, the model's outputs), as NumPy arrays.
Batches = Iterable[tuple[Mapping[str, np.ndarray], Any]]


class Task(abc.ABC):
    """One fine-tuning task: subclass it, and pass it to `fine_tuning.run`.

    The flow calls the methods in the order in which they are defined here.

    Args:
        options: the flags that all tasks share.

    Attributes:
        options: the same as the argument.
        splits: {"train", "eval" or "predict": names of the splits to use for
            this purpose}. A second split to evaluate on may be named
            "eval_SUFFIX": the names of its scores get the suffix.
        examples: {split: its examples} for the splits to evaluate or predict.
            The flow sets it before it calls `encode`.
        tokenizer: tokenizer of the texts, which `prepare` loads.
            --export_weights writes its vocabulary.
        loss: loss to minimize and report, such as `modeling.ClassifierLoss()`.
        train_loss: loss to minimize in training, if it differs from `loss`
            (for example with weighted classes); None to use `loss`.
        metrics: names of scores of `evaluate` that can choose the best step and
            run, all higher-is-better. The first is the default.
        hundredth: size of a hundredth on the scale of the first metric.
        labels: labels in the order of the model's outputs, saved beside its
            checkpoints; None if the task has none.
        label_words: other names of the labels, in the same order; a model that
            someone else saved may use them. Empty if there are none.
        problem_type: `problem_type` in a transformers configuration, for a
            classifier; None if the labels determine it.
        sequences_per_example: number of sequences per example.
        counts_examples: whether the length of an epoch is the number of
            examples; False uses the number of records.
        has_eval_loss: whether the records of "eval" contain the features that
            the loss reads.
        samples: the examples of the latest evaluation, with the right and the
            predicted answers, as {column: text}. `evaluate` may set them, and
            TensorBoard shows a few.
        eval_files: files from which `evaluate` reads the right answers, if the
            records do not contain them.
        settings: additional {name: value} that must not change in a resume.
    """

    options: FineTuningConfig
    splits: Mapping[str, Sequence[str]] = {
        "train": ["train"],
        "eval": ["eval"],
        "predict": ["predict"],
    }
    examples: dict[str, Sequence[Any]] = {}
    tokenizer: FullTokenizer
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
    samples: Sequence[Mapping[str, Any]] = ()
    eval_files: Sequence[str] = ()
    settings: Mapping[str, Any] = {}

    def __init__(self, options: FineTuningConfig) -> None:
        self.options = options

    @property
    def output_names(self) -> list[Sequence[str]]:
        """The labels and their other names, for `load_checkpoint`."""
        return [*filter(None, [self.labels, self.label_words])]

    def prepare(
        self,
        config: "modeling.BertConfig",
        saved_labels: Sequence[str] | None,
    ) -> None:
        """Checks the task's own flags and creates what all splits share.

        The flow calls this method before any long work.

        Args:
            config: configuration of the model.
            saved_labels: labels that the model was trained with, or None.

        Raises:
            ValueError: a flag contradicts another or a file.
            OSError: a file is missing.
        """
        return

    @abc.abstractmethod
    def read_examples(self, split: str) -> Sequence[Any] | None:
        """Returns the examples of a split; None to skip the split.

        Raises:
            ValueError: a line is malformed; the message names it.
            OSError: a file is missing.
        """

    @abc.abstractmethod
    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """Yields the serialized tf.train.Examples of a split, in order."""

    @abc.abstractmethod
    def feature_spec(self, split: str) -> Mapping[str, Any]:
        """Returns the features of a split's records, {name: feature}."""

    @abc.abstractmethod
    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> Any:
        """Returns a model of `modeling`.

        Args:
            config: configuration of the model.
            **options: arguments of every model.
        """

    def combine(self, outputs: Sequence[Any]) -> Any:
        """Returns the outputs of an ensemble for one batch.

        `evaluate` and `write_predictions` get these outputs instead of the
        outputs of one model. By default outputs are logits of classes, and the
        probabilities are averaged.

        Args:
            outputs: each model's outputs, by default float [..., L] over L
                classes.

        Returns:
            by default float32 [..., L]: the logarithms of the mean
            probabilities.
        """
        from scipy import special

        logits = np.array(outputs, np.float64)
        log_probs = special.log_softmax(logits, axis=-1)
        mean = special.logsumexp(log_probs, axis=0) - np.log(len(outputs))
        return mean.astype(np.float32)

    def pool(self, split: str, batches: Batches) -> Batches:
        """Returns the batches that `evaluate` and the other methods read.

        By default these are the batches of the records, in order. A task that
        writes several records per example may return batches of examples.
        """
        return batches

    @abc.abstractmethod
    def evaluate(self, split: str, batches: Batches) -> dict[str, float]:
        """Returns the scores of the model's outputs, {name: value}."""

    def tune(self, split: str, batches: Batches) -> dict[str, float]:
        """Fits the decoding of outputs to a dev set; by default nothing.

        The flow calls this method once for the final weights, before it writes
        the results. The batches are only computed if the method reads them.

        Returns:
            scores with the fitted decoder, which replace the scores of
            `evaluate`; {} if nothing is fitted.
        """
        return {}

    def write_report(
        self, split: str, batches: Batches, output_dir: str
    ) -> None:
        """Writes a report on an evaluated split; by default nothing.

        The batches are only computed if the method reads them.
        """
        return

    @abc.abstractmethod
    def write_predictions(
        self, split: str, batches: Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predictions of a split.

        Returns:
            the scores of the predictions; {} if the right answers are unknown.
        """

    @abc.abstractmethod
    def export(self, export_dir: str, model: Any) -> None:
        """Writes the model in the formats of --export_format."""

    def evaluate_export(
        self,
        export_dir: str,
        split: str,
        create_batches: Callable[[int], Iterable[Mapping[str, Any]]],
    ) -> dict[str, dict[str, float]]:
        """Returns the scores of exported files, as `evaluate` scores a model.

        Args:
            export_dir: folder that `export` wrote.
            split: name of an evaluated split.
            create_batches: (batch size) -> the split's batches of features.

        Returns:
            {format: scores} for the formats that this machine can run; by
            default {}.
        """
        return {}

    def read_served(self, outputs: Mapping[str, np.ndarray]) -> Any:
        """Converts an export's outputs to the form of `create_model`'s model.

        By default the two are the same.
        """
        return outputs


def run_command(
    task: Callable[[Any], Task], config: type[FineTuningConfig]
) -> None:
    """Runs a script that trains, evaluates, predicts and exports a task.

    Args:
        task: (config) -> the script's task, usually its class.
        config: the script's flags.
    """

    def main(options: FineTuningConfig) -> None:
        # Import TensorFlow late, so that --help and wrong flags return quickly.
        from training import fine_tuning

        fine_tuning.run(task(options), options)

    main.__module__ = task.__module__
    cli.run(main, config)
