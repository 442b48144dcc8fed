"""Chooses among continuations of a sentence, for run_swag.py."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

import modeling
from data.arrays import FloatArray, LabelArray
from data.classification import (
    label_codec,
    metrics,
    prediction_files,
    swag_examples,
)
from data.classification.classification_features import encode_features
from data.io import feature_specs
from data.sets.set_names import SetName, base_set_of
from data.tables.table_layout import TableLayout
from model_folders.bert_config import BertConfig
from model_folders.output_modes import CLASSIFICATION
from model_folders.scores import Scores
from training.config.fine_tuning_config import FineTuningConfig
from training.starting_point import StartingPoint
from training.task import Batches, EncodedSet, FineTuningTask, Scoring

if TYPE_CHECKING:
    from modeling.arguments import TaskModelArguments

_METRICS = ("eval_accuracy",)
_EncodedSet: TypeAlias = EncodedSet[swag_examples.SwagExample, None]


class SwagTask(
    FineTuningTask[
        FineTuningConfig, swag_examples.SwagExample, None, FloatArray
    ]
):
    """Chooses which of four endings continues a sentence.

    Args:
        starting_point: passed to `FineTuningTask`.
        layout: layout of the tables in --data_dir.
    """

    codec = label_codec.LabelCodec(CLASSIFICATION, swag_examples.LABELS)

    def __init__(
        self,
        starting_point: StartingPoint[FineTuningConfig],
        layout: TableLayout,
    ) -> None:
        super().__init__(
            starting_point,
            loss=modeling.ClassifierLoss(),
            scoring=Scoring(_METRICS, eval_loss=modeling.ClassifierLoss()),
        )
        self.layout = layout
        self.max_seq_length = self.config.fine_tuning.max_seq_length

    def take_examples(
        self, set_name: SetName
    ) -> Sequence[swag_examples.SwagExample] | None:
        """Reads the examples of a set from --data_dir."""
        return swag_examples.read_swag_set(
            self.config.fine_tuning.data_dir,
            base_set_of(set_name),
            self.layout,
        )

    def encode(
        self, set_name: SetName, examples: Sequence[swag_examples.SwagExample]
    ) -> Iterator[tuple[bytes, None]]:
        """Yields the examples of a set as TFRecords, without contexts."""
        created = swag_examples.create_swag_features(
            examples, self.max_seq_length, self.tokenizer
        )
        for record in encode_features(created, self.max_seq_length):
            yield record, None

    def feature_spec(self, set_name: SetName) -> feature_specs.RecordSpec:
        """Returns {name: FeatureSpec} of the records, the same for all sets."""
        return feature_specs.swag_spec(
            self.max_seq_length, swag_examples.NUM_CHOICES
        )

    def create_model(
        self,
        bert_config: BertConfig,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "modeling.BertMultipleChoice":
        """Creates the BertMultipleChoice to train."""
        return modeling.BertMultipleChoice(bert_config, **arguments)

    def compute_scores(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Scores:
        """Computes the accuracy of the chosen endings."""
        return self._score_outputs(
            encoded_set, label_codec.concatenate_outputs(batches)
        )

    def write_and_score_predictions(
        self,
        encoded_set: _EncodedSet,
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> Scores:
        """Writes test_results.tsv and predictions.jsonl.

        Returns the scores of the predictions, which are empty if the test set
        contains no labels.
        """
        outputs = label_codec.concatenate_outputs(batches)
        entries = (
            {"guid": example.guid}
            | ({"gold_label": example.label} if example.label else {})
            for example in encoded_set.examples
        )
        prediction_files.write_labels(output_dir, entries, outputs, self.codec)
        return self._score_outputs(encoded_set, outputs)

    def _score_outputs(
        self, encoded_set: _EncodedSet, outputs: FloatArray
    ) -> Scores:
        return metrics.score_labeled(
            encoded_set.examples,
            self.codec.decode_labels(outputs),
            self.codec,
            _score_choices,
        )


def _score_choices(
    _: Sequence[swag_examples.SwagExample],
    gold_labels: LabelArray,
    predictions: LabelArray,
) -> Scores:
    return Scores(metrics.compute_metrics(_METRICS, gold_labels, predictions))
