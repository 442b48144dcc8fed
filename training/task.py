"""Defines the interface of a fine-tuning task.

A task is one class. It reads and encodes the examples, creates the model, and
turns the model's outputs into scores and files. `fine_tune` calls its methods
and trains the model. docs/adding_a_task.md shows how to add a task in a single
file.
"""

import abc
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Unpack

from data.arrays import Batches as Batches
from data.arrays import OutputsT as OutputsT
from data.sets.set_names import SetName
from model_folders.bert_config import BertConfig
from model_folders.head_settings import HeadSettings, classifier_settings_of
from model_folders.output_modes import OutputMode
from model_folders.reading.preset import Preset
from model_folders.scores import Scores
from training.config.fine_tuning_config import FineTuningConfig
from training.starting_point import StartingPoint

if TYPE_CHECKING:
    import tensorflow as tf

    from data.io import feature_specs, record_datasets
    from modeling.arguments import TaskModelArguments
    from modeling.base_loss import Loss
    from modeling.base_task_model import AnyTaskModel

# The flags of a task. Covariant, so that what takes a task of a
# FineTuningConfig accepts the task of any script.
ConfigT_co = TypeVar("ConfigT_co", bound=FineTuningConfig, covariant=True)
# An example, and what `FineTuningTask.encode` yields beside a record.
ExampleT = TypeVar("ExampleT")
ContextT = TypeVar("ContextT")
# The same in a set. Covariant, so that an AnyEncodedSet may be any set.
ExampleT_co = TypeVar("ExampleT_co", covariant=True)
ContextT_co = TypeVar("ContextT_co", covariant=True)


@dataclasses.dataclass(frozen=True)
class EncodedSet(Generic[ExampleT_co, ContextT_co]):
    """A set of examples, and its records.

    For example, a dev set of 2 long texts that become 5 windows has the name
    "dev", `num_examples` = 2, `num_records` = 5, and with the index of its text
    as each window's context the `decoding_contexts` [0, 0, 0, 1, 1].

    Attributes:
        name: name of the set: "train", "dev" or "test", or one of several dev
            sets, such as "dev_mm".
        records: paths and format of the TFRecord files.
        num_examples: number of examples.
        num_records: number of records, which may be more than the examples.
        checksum: checksum that does not depend on the records' order.
        examples: the examples, to evaluate or to predict. () in training.
        decoding_contexts: what `FineTuningTask.encode` yielded beside each
            record, in the order of the records. () in training.
    """

    name: SetName
    records: "record_datasets.Records"
    num_examples: int
    num_records: int
    checksum: int
    examples: Sequence[ExampleT_co] = ()
    decoding_contexts: Sequence[ContextT_co] = ()

    def create_dataset(
        self, batch_size: int, *, trims_padding: bool
    ) -> "tf.data.Dataset[dict[str, tf.Tensor]]":
        """Returns the batches of the set, for evaluation or prediction."""
        # Import late, so that a script checks its flags without TensorFlow.
        from data.io import record_datasets

        return record_datasets.create_dataset(
            self.records,
            batch_size,
            is_training=False,
            trims_padding=trims_padding,
        )


# A set of any task. Only its task reads its examples and contexts.
AnyEncodedSet: TypeAlias = EncodedSet[object, object]
# {name of a set: the set}
AnyEncodedSets: TypeAlias = Mapping[SetName, AnyEncodedSet]


@dataclasses.dataclass(frozen=True)
class Scoring(Generic[OutputsT]):
    """How a task is scored.

    Attributes:
        metrics: names of the scores of `compute_scores` by which the best step
            may be chosen. Higher must be better. The first is the main metric:
            it chooses the best step by default, and an export must score as
            well by it as its model.
        eval_loss: loss to report in evaluations. None if the records of "dev"
            lack the features that a loss reads.
        percentage_point: one percentage point of the main metric: 0.01 if the
            metric is a fraction, 1 if it is a percentage.
        eval_files: files from which `compute_scores` reads the right answers,
            if the records do not contain them.
        can_score_export: whether `compute_scores` accepts the outputs of an
            export. False if the export computes other outputs than the model.
    """

    metrics: Sequence[str]
    eval_loss: "Loss[OutputsT] | None" = None
    percentage_point: float = 0.01
    eval_files: Sequence[str] = ()
    can_score_export: bool = True

    @property
    def main_metric(self) -> str:
        """The first of the metrics."""
        return self.metrics[0]


class FineTuningTask(
    abc.ABC, Generic[ConfigT_co, ExampleT, ContextT, OutputsT]
):
    """One fine-tuning task: subclass it, and pass it to `fine_tune`.

    The constructor of a subclass checks the task's own flags, and passes what
    it knows of the task to this constructor. It reads no set: if the labels
    come from the sets, the script reads the sets first. Then `fine_tune` calls
    the methods in the order of their definitions. A method stores nothing for a
    later method: whatever decoding needs is in the `EncodedSet`.

    For a type checker, name the types of the flags, of an example, of the
    decoding context of a record, and of the outputs of the model:
    `FineTuningTask[DataFileConfig, InputExample, int, FloatArray]`.

    Args:
        starting_point: the flags, the network and the tokenizer of the command.
        loss: loss to minimize, such as `modeling.ClassifierLoss()`.
        scoring: how the task is scored, such as `Scoring(metrics=["f1"])`.
        labels: labels in the order of the model's outputs, saved beside the
            model's checkpoints. None if the task has no labels.
        label_words: alternative names of the labels, in the same order, which
            the model of another project may use. May be empty.
        dev_sets: names of the sets to evaluate. A second one is named
            "dev_SUFFIX", and the names of its scores end in "_SUFFIX".
        test_sets: names of the sets to predict.
        fixed_head_settings: the head settings that must not change when a run
            is resumed. None for {}.

    Each argument is an attribute too.

    Attributes:
        config: the flags of `starting_point`.
        tokenizer: the tokenizer of `starting_point`, of --vocab_file. Its files
            are written beside the weights.
    """

    def __init__(
        self,
        starting_point: StartingPoint[ConfigT_co],
        *,
        loss: "Loss[OutputsT]",
        scoring: Scoring[OutputsT],
        labels: Sequence[str] | None = None,
        label_words: Sequence[str] = (),
        dev_sets: Sequence[SetName] = ("dev",),
        test_sets: Sequence[SetName] = ("test",),
        fixed_head_settings: HeadSettings | None = None,
    ) -> None:
        self.starting_point = starting_point
        self.config = starting_point.config
        self.tokenizer = starting_point.required_tokenizer
        self.loss = loss
        self.scoring = scoring
        self.labels = labels
        self.label_words = label_words
        self.dev_sets = dev_sets
        self.test_sets = test_sets
        self.fixed_head_settings: HeadSettings = fixed_head_settings or {}

    @property
    def label_alternatives(self) -> list[Sequence[str]]:
        """Lists of names of the outputs: `labels` and `label_words`, if set.

        The files of the weights may use the names of any of these lists.
        """
        return [*filter(None, [self.labels, self.label_words])]

    @property
    def output_mode(self) -> OutputMode | None:
        """What the model's outputs are, None if the task has only one mode."""
        return classifier_settings_of(self.fixed_head_settings).get(
            "output_mode"
        )

    @property
    def head_settings(self) -> HeadSettings:
        """Settings of the model's head, which an export records.

        By default these are the `fixed_head_settings` and the `labels`. A
        subclass may add settings that a resumed run may change, or that have
        another value in an export. The classes of settings in
        model_folders/head_settings.py list their names.
        `trim_padding` = False pads all inputs of the export.
        """
        return {**self.fixed_head_settings, "labels": self.labels}

    def check_preset(self, preset: Preset) -> None:
        """Checks what the files beside the initial weights say.

        By default does nothing. `fine_tune` has compared the network and the
        tokenizer with the flags before, and compares the labels itself.

        Args:
            preset: Preset of the initial weights.

        Raises:
            ValueError: the task cannot use the weights.
        """
        return

    @abc.abstractmethod
    def take_examples(self, set_name: SetName) -> Sequence[ExampleT] | None:
        """Returns the examples of a set, or None to skip the set.

        `fine_tune` takes each set once, and the task need not keep it: a second
        call for the same set may fail.

        Raises:
            ValueError: a line is malformed. The message names the line.
            OSError: a file is missing.
        """

    @abc.abstractmethod
    def encode(
        self, set_name: SetName, examples: Sequence[ExampleT]
    ) -> Iterator[tuple[bytes, ContextT]]:
        """Yields (serialized tf.train.Example, context) for each record.

        The decoding context is all that evaluation needs to know of the record,
        such as the window of a text that the record contains. It may be None.
        """

    @abc.abstractmethod
    def feature_spec(self, set_name: SetName) -> "feature_specs.RecordSpec":
        """Returns {name: FeatureSpec} of a set's records."""

    def epoch_length(self, train_set: EncodedSet[ExampleT, ContextT]) -> int:
        """Returns the length of an epoch, from which the steps are computed.

        By default this is the number of records.
        """
        return train_set.num_records

    @abc.abstractmethod
    def create_model(
        self,
        bert_config: BertConfig,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "AnyTaskModel":
        """Creates the task's model, an instance of a class in `modeling`.

        Args:
            bert_config: configuration of the model.
            **arguments: those that every model of `modeling` accepts. A
                subclass that only passes them on may declare them as Any.
        """

    def pool(
        self,
        encoded_set: EncodedSet[ExampleT, ContextT],
        batches: Batches[OutputsT],
    ) -> Batches[OutputsT]:
        """Converts batches of records to what `compute_scores` reads.

        By default returns `batches`. A task that writes several records per
        example may return batches of examples.
        """
        return batches

    @abc.abstractmethod
    def compute_scores(
        self,
        encoded_set: EncodedSet[ExampleT, ContextT],
        batches: Batches[OutputsT],
    ) -> Scores:
        """Computes the scores of the model's outputs.

        For example, `Scores({"accuracy": 0.9})`. The best step may be chosen by
        the overall scores that `Scoring.metrics` names.
        """

    def write_dev_files(
        self,
        encoded_set: EncodedSet[ExampleT, ContextT],
        batches: Batches[OutputsT],
        output_dir: str,
    ) -> None:
        """Writes files about an evaluated dev set. By default does nothing.

        These are what the model predicts for each example, such as
        dev_predictions.csv, and with --report a report. The batches are only
        computed if they are read.
        """
        return

    @abc.abstractmethod
    def write_and_score_predictions(
        self,
        encoded_set: EncodedSet[ExampleT, ContextT],
        batches: Batches[OutputsT],
        output_dir: str,
    ) -> Scores:
        """Writes the predictions of a set, and scores them if it can.

        Returns:
            scores of the predictions, which are empty if the right answers are
            unknown.
        """


# Any task, for functions that pass none of its examples, contexts and outputs.
# A function that passes them back to their task is generic in their types.
AnyFineTuningTask: TypeAlias = FineTuningTask[FineTuningConfig, Any, Any, Any]
