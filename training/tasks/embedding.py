"""Trains vectors of texts, for `run_classifier.py --task_name=embedding`."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

import modeling
from data.arrays import FloatArray
from data.classification import (
    label_codec,
    metrics,
    prediction_files,
    similar_pairs,
)
from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    create_pair_features,
    encode_features,
)
from data.classification.classification_processor import ClassificationProcessor
from data.io import feature_specs
from data.sets.set_names import SetName, base_set_of, suffix_of
from model_folders.bert_config import BertConfig
from model_folders.scores import Scores
from training.config.classifier_config import ClassifierConfig
from training.starting_point import StartingPoint
from training.task import Batches, EncodedSet, FineTuningTask, Scoring

if TYPE_CHECKING:
    from modeling.arguments import TaskModelArguments
    from modeling.base_loss import Loss
    from modeling.tensors import Tensor

_EncodedSet: TypeAlias = EncodedSet[InputExample, None]


class EmbeddingTask(
    FineTuningTask[ClassifierConfig, InputExample, None, FloatArray]
):
    """Trains embedding vectors whose cosine shows how similar two texts are.

    If the train set contains scores, the loss is the cosine's squared error.
    Otherwise it is the cross entropy of finding each text's partner in a batch.

    Args:
        starting_point: passed to `FineTuningTask`.
        processor: reads the pairs of texts.
        trains_scores: whether the pairs of the train set have scores.
        evaluates_scores: whether the pairs of the dev set have scores.
        max_score: largest score of the scale that all sets use, None to find
            it in a test set, which is then the only set.
    """

    def __init__(
        self,
        starting_point: StartingPoint[ClassifierConfig],
        processor: ClassificationProcessor,
        *,
        trains_scores: bool,
        evaluates_scores: bool,
        max_score: float | None,
    ) -> None:
        config = starting_point.config
        loss = _create_embedding_loss(
            config.classifier.contrastive_temperature, are_scored=trains_scores
        )
        super().__init__(
            starting_point,
            loss=loss,
            scoring=Scoring(
                processor.metrics if evaluates_scores else ("recall_1",),
                eval_loss=loss if evaluates_scores == trains_scores else None,
                # An export computes the vectors, and not their cosines.
                can_score_export=False,
            ),
            # Record the maximum length of one text, not of a pair.
            fixed_head_settings={
                "task_name": config.selected_task_name,
                "max_seq_length": config.fine_tuning.max_seq_length,
            },
        )
        self.processor = processor
        self.codec = label_codec.CosineCodec()
        self.max_seq_length = config.fine_tuning.max_seq_length
        self.trains_scores = trains_scores
        self.evaluates_scores = evaluates_scores
        self.max_score = max_score

    def take_examples(self, set_name: SetName) -> Sequence[InputExample] | None:
        """Takes a set's pairs from the processor, which forgets them."""
        return self.processor.take(set_name)

    def encode(
        self, set_name: SetName, examples: Sequence[InputExample]
    ) -> Iterator[tuple[bytes, None]]:
        """Yields the text pairs of a set as TFRecords, without contexts."""
        max_score = self.max_score or similar_pairs.guess_max_score(examples)
        similar_pairs.check_scale(set_name, examples, max_score)
        created = create_pair_features(
            examples, self.max_seq_length, self.tokenizer, max_score
        )
        for record in encode_features(created, self.max_seq_length):
            yield record, None

    def feature_spec(self, set_name: SetName) -> feature_specs.RecordSpec:
        """Returns {name: FeatureSpec} of a set's records of text pairs."""
        has_scores = {
            "train": self.trains_scores,
            "dev": self.evaluates_scores,
            # Any score may be missing.
            "test": False,
        }
        return feature_specs.pair_spec(
            self.max_seq_length, has_scores[base_set_of(set_name)]
        )

    def create_model(
        self,
        bert_config: BertConfig,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "modeling.BertEmbedder":
        """Creates the BertEmbedder to train."""
        return modeling.BertEmbedder(bert_config, **arguments)

    def compute_scores(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Scores:
        """Computes the recall, or the correlation with known scores."""
        return self._score_vectors(
            encoded_set, label_codec.concatenate_outputs(batches)
        )

    def write_dev_files(
        self,
        encoded_set: _EncodedSet,
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> None:
        """Writes the cosines of the pairs of a table's dev set."""
        prediction_files.write_table_rows(
            os.path.join(output_dir, "dev_predictions.csv"),
            encoded_set.examples,
            label_codec.concatenate_outputs(batches),
            self.codec,
        )

    def write_and_score_predictions(
        self,
        encoded_set: _EncodedSet,
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> Scores:
        """Writes the cosines of the pairs of the test set."""
        outputs = label_codec.concatenate_outputs(batches)
        prediction_files.write_test_predictions(
            output_dir,
            encoded_set.examples,
            outputs,
            self.codec,
            suffix=suffix_of(encoded_set.name),
        )
        return self._score_vectors(encoded_set, outputs)

    def _score_vectors(
        self, encoded_set: _EncodedSet, vectors: FloatArray
    ) -> Scores:
        # Of a test set, the pairs that have scores are scored.
        if self.evaluates_scores or base_set_of(encoded_set.name) == "test":
            cosines = self.codec.decode_labels(vectors)
            return metrics.score_labeled(
                encoded_set.examples,
                cosines,
                self.codec,
                self.processor.score,
            )
        partners = [example.text_b for example in encoded_set.examples]
        return Scores(
            {"recall_1": metrics.compute_recall_at_1(vectors, partners)}
        )


def _create_embedding_loss(
    temperature: float, *, are_scored: bool
) -> "Loss[Tensor]":
    """Creates the loss of pairs with or without scores.

    Args:
        temperature: temperature that divides the cosines of pairs without
            scores.
        are_scored: whether the pairs have scores.
    """
    if are_scored:
        return modeling.CosineLoss()
    return modeling.ContrastiveLoss(temperature)
