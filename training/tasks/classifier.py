"""Predicts labels of texts, for run_classifier.py."""

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

import modeling
from data.arrays import FloatArray
from data.classification import (
    label_codec,
    label_report,
    metrics,
    prediction_files,
)
from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    convert_examples_to_features,
    create_window_features,
    encode_classification_features,
    encode_features,
)
from data.classification.classification_processor import ClassificationProcessor
from data.classification.glue import glue_tasks
from data.io import feature_specs
from data.predictions import report
from data.sets.set_names import SetName, base_set_of, suffix_of
from model_folders.bert_config import BertConfig
from model_folders.head_settings import ClassifierSettings, HeadSettings
from model_folders.output_modes import MULTILABEL, REGRESSION
from model_folders.scores import Scores
from training.config.classifier_config import ClassifierConfig
from training.starting_point import StartingPoint
from training.task import Batches, EncodedSet, FineTuningTask, Scoring

if TYPE_CHECKING:
    from modeling.arguments import TaskModelArguments
    from modeling.base_loss import Loss
    from modeling.tensors import Tensor

_EncodedSet: TypeAlias = EncodedSet[InputExample, int]
# A length that no text reaches, in WordPieces.
_UNLIMITED_LENGTH = 2**31


class ClassifierTask(
    FineTuningTask[ClassifierConfig, InputExample, int, FloatArray]
):
    """Predicts a label, several labels or a number for a text or a pair.

    Args:
        starting_point: passed to `FineTuningTask`.
        processor: reads the sets, and knows what they say of the task.
        labels: labels in the order of the model's outputs, None in regression.
        num_texts: 1 for single texts, 2 for pairs, None if it is unknown. A
            run records it.
        exported_num_texts: the same for an export, which rejects a second text
            if it is 1.
        class_weights: {label: weight in the training loss}, {} for equal
            weights.
    """

    def __init__(
        self,
        starting_point: StartingPoint[ClassifierConfig],
        processor: ClassificationProcessor,
        *,
        labels: list[str] | None,
        num_texts: int | None,
        exported_num_texts: int | None,
        class_weights: Mapping[str, float],
    ) -> None:
        config = starting_point.config
        task_name = config.required_task_name
        fixed_head_settings: ClassifierSettings = {
            "task_name": task_name,
            "output_mode": processor.output_mode,
            "labels": labels,
            "num_texts": num_texts,
            **processor.fixed_head_settings,
        }
        if class_weights:
            fixed_head_settings["class_weights"] = class_weights
        super().__init__(
            starting_point,
            loss=_create_classifier_loss(processor, [*class_weights.values()]),
            scoring=Scoring(
                # The first metric is the metric that the paper reports. The
                # best step is the step with its best value.
                processor.metrics,
                eval_loss=_create_classifier_loss(processor),
            ),
            labels=labels,
            label_words=glue_tasks.WORDS_OF_LABEL.get(task_name, ()),
            # The names of MultiNLI's mismatched dev and test sets end in "_mm".
            dev_sets=processor.dev_sets,
            test_sets=processor.test_sets,
            fixed_head_settings=fixed_head_settings,
        )
        self.processor = processor
        self.codec = label_codec.LabelCodec(processor.output_mode, labels)
        self.max_seq_length = config.fine_tuning.max_seq_length
        self._exported_num_texts = exported_num_texts
        self._doc_stride = config.classifier.doc_stride

    @property
    def head_settings(self) -> HeadSettings:
        """Settings of the model's head, with the stride of its windows."""
        return {
            **super().head_settings,
            "num_texts": self._exported_num_texts,
            "doc_stride": self._doc_stride,
        }

    def take_examples(self, set_name: SetName) -> Sequence[InputExample] | None:
        """Takes a set's examples from the processor, which forgets them.

        Returns None if a "_mm" set is missing.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file is malformed, or contains pairs although
                --doc_stride is set.
        """
        examples = self.processor.take(set_name)
        has_pairs = any(example.text_b for example in examples or ())
        if self._doc_stride and has_pairs:
            raise ValueError(
                f"--doc_stride={self._doc_stride} is for single texts, but the "
                f"{set_name} set contains pairs; remove the flag, or use "
                "single texts"
            )
        return examples

    def encode(
        self, set_name: SetName, examples: Sequence[InputExample]
    ) -> Iterator[tuple[bytes, int]]:
        """Yields the examples of a set as TFRecords.

        A long text is cut. With --doc_stride, it becomes several overlapping
        windows instead. The decoding context of a record is the index of its
        example.
        """
        if self._doc_stride:
            return self._encode_windows(examples)
        features = convert_examples_to_features(
            examples, self.labels, self.max_seq_length, self.tokenizer
        )
        records = encode_features(features, self.max_seq_length)
        return ((record, index) for index, record in enumerate(records))

    def _encode_windows(
        self, examples: Sequence[InputExample]
    ) -> Iterator[tuple[bytes, int]]:
        """Yields the windows of each text, with the index of the text."""
        windows_of_texts = create_window_features(
            examples,
            self.labels,
            self.max_seq_length,
            self.tokenizer,
            self._doc_stride,
        )
        for index, windows in enumerate(windows_of_texts):
            for features in windows:
                yield encode_classification_features(features), index

    def feature_spec(self, set_name: SetName) -> feature_specs.RecordSpec:
        """Returns {name: FeatureSpec} of a set's records."""
        spec = feature_specs.classifier_spec(
            self.max_seq_length,
            self.codec.output_mode,
            self.codec.num_outputs,
            has_weights=self._doc_stride > 0 and set_name == "train",
        )
        if base_set_of(set_name) == "test":
            del spec["label_ids"]
        return spec

    def create_model(
        self,
        bert_config: BertConfig,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "modeling.BertClassifier":
        """Creates a BertClassifier with one output for each label."""
        return modeling.BertClassifier(
            bert_config, self.codec.num_outputs, **arguments
        )

    def pool(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Batches[FloatArray]:
        """Combines the outputs of each text's windows (--doc_stride)."""
        if not self._doc_stride:
            return batches
        text_indices = encoded_set.decoding_contexts
        # The index of each text's first record.
        first_records = [
            index
            for index, text_index in enumerate(text_indices)
            if index == 0 or text_index != text_indices[index - 1]
        ]
        return label_codec.pool_batches(batches, first_records)

    def compute_scores(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Scores:
        """Computes the metrics of the task, such as Google's eval_accuracy."""
        return self._score_outputs(
            encoded_set, label_codec.concatenate_outputs(batches)
        )

    def write_dev_files(
        self,
        encoded_set: _EncodedSet,
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> None:
        """Writes the predictions of a dev set, and with --report report.html.

        Without --report, only a user's own table gets a file of predictions.
        """
        has_rows = encoded_set.examples[0].row is not None
        if not (has_rows or self.config.report):
            return
        outputs = label_codec.concatenate_outputs(batches)
        path = os.path.join(output_dir, "dev_predictions.csv")
        prediction_files.write_table_rows(
            path, encoded_set.examples, outputs, self.codec
        )
        if self.config.report:
            self._write_label_report(encoded_set, outputs, output_dir)

    def _write_label_report(
        self, encoded_set: _EncodedSet, outputs: FloatArray, output_dir: str
    ) -> None:
        """Writes report.html about the outputs for a dev set."""
        scores = self._score_outputs(encoded_set, outputs)
        data_path = self.config.required_data_source
        suffix = suffix_of(encoded_set.name)
        label_report.write_label_report(
            os.path.join(output_dir, f"report{suffix}.html"),
            report.create_heading(self.codec.output_mode, data_path, scores),
            examples=encoded_set.examples,
            outputs=outputs,
            codec=self.codec,
            tokenizer=self.tokenizer,
            # Windows read the whole text.
            max_seq_length=(
                _UNLIMITED_LENGTH if self._doc_stride else self.max_seq_length
            ),
        )

    def write_and_score_predictions(
        self,
        encoded_set: _EncodedSet,
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> Scores:
        """Writes the predictions, and the file of --glue_submission."""
        outputs = label_codec.concatenate_outputs(batches)
        suffix = suffix_of(encoded_set.name)
        labels = prediction_files.write_test_predictions(
            output_dir,
            encoded_set.examples,
            outputs,
            self.codec,
            suffix=suffix,
        )
        if self.config.classifier.glue_submission:
            name = self.config.required_task_name + suffix.replace("_", "-")
            path = os.path.join(output_dir, glue_tasks.submission_file(name))
            prediction_files.write_submission(path, labels)
        return self._score_outputs(encoded_set, outputs)

    def _score_outputs(
        self, encoded_set: _EncodedSet, outputs: FloatArray
    ) -> Scores:
        return metrics.score_labeled(
            encoded_set.examples,
            self.codec.decode_labels(outputs),
            self.codec,
            functools.partial(self.processor.score, labels=self.labels),
        )


def _create_classifier_loss(
    processor: ClassificationProcessor, class_weights: Sequence[float] = ()
) -> "Loss[Tensor]":
    """Creates the loss of the task's kind of labels.

    Args:
        processor: knows the kind of labels.
        class_weights: weight of each label, in the order of the model's
            outputs, () for equal weights.
    """
    if processor.definition.learns_relevances:
        return modeling.RankingLoss()
    if processor.output_mode == REGRESSION:
        return modeling.RegressionLoss()
    if processor.output_mode == MULTILABEL:
        return modeling.MultiLabelLoss()
    return modeling.ClassifierLoss(class_weights or None)
