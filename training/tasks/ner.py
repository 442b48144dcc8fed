"""Tags named entities, for run_ner.py."""

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np

import modeling
from data.arrays import FloatArray
from data.io import feature_specs, tf_examples
from data.ner import entity_scoring, predicted_entities, sentence_windows
from data.ner.ner_examples import NerExample
from data.ner.sentence_windows import NerFeatures
from data.predictions import report
from data.probabilities import to_probabilities
from data.sets.held_sets import HeldSets
from data.sets.set_names import SetName, base_set_of
from model_folders.bert_config import BertConfig
from model_folders.head_settings import TokenClassifierSettings
from model_folders.output_modes import CLASSIFICATION
from model_folders.scores import Scores
from training.config.ner_config import NerConfig
from training.starting_point import StartingPoint
from training.task import Batches, EncodedSet, FineTuningTask, Scoring

if TYPE_CHECKING:
    from modeling.arguments import TaskModelArguments

_EncodedSet: TypeAlias = EncodedSet[NerExample, NerFeatures]


class NerTask(FineTuningTask[NerConfig, NerExample, NerFeatures, FloatArray]):
    """Tags the words that name persons, places or organizations in a text.

    Args:
        starting_point: passed to `FineTuningTask`.
        sets: the sentences.
        labels: the tags that words may have, in the order of the model's
            outputs.
    """

    # Never None, because every model of this task has labels.
    labels: Sequence[str]

    def __init__(
        self,
        starting_point: StartingPoint[NerConfig],
        sets: HeldSets[NerExample],
        *,
        labels: list[str],
    ) -> None:
        super().__init__(
            starting_point,
            loss=modeling.TokenLoss(),
            scoring=Scoring(
                ("f1", "precision", "recall", "accuracy"),
                eval_loss=modeling.TokenLoss(),
            ),
            labels=labels,
            fixed_head_settings={"labels": labels},
        )
        self.sets = sets
        self.max_seq_length = self.config.fine_tuning.max_seq_length

    @property
    def head_settings(self) -> TokenClassifierSettings:
        """Settings of the model's head, with --legal_tags."""
        return {
            **super().head_settings,
            "legal_tags": self.config.legal_tags,
        }

    def take_examples(self, set_name: SetName) -> Sequence[NerExample] | None:
        """Takes the sentences of a set, which `sets` then forgets."""
        return self.sets.take(base_set_of(set_name))

    def encode(
        self, set_name: SetName, examples: Sequence[NerExample]
    ) -> Iterator[tuple[bytes, NerFeatures]]:
        """Yields the windows of a set's sentences, as TFRecords too."""
        for window in sentence_windows.create_ner_features(
            examples,
            self.labels,
            self.max_seq_length,
            self.tokenizer,
            document_context=self.config.ner.document_context,
        ):
            labels: dict[str, tf_examples.Values] = {
                "label_ids": window.label_ids,
                "label_weights": window.label_weights,
            }
            yield tf_examples.encode_inputs(window, labels), window

    def feature_spec(self, set_name: SetName) -> feature_specs.RecordSpec:
        """Returns {name: FeatureSpec} of the records, the same for all sets."""
        return feature_specs.ner_spec(self.max_seq_length)

    def create_model(
        self,
        bert_config: BertConfig,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "modeling.BertTokenClassifier":
        """Creates a BertTokenClassifier with one output for each label."""
        return modeling.BertTokenClassifier(
            bert_config, len(self.labels), **arguments
        )

    def compute_scores(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Scores:
        """Computes the scores of CoNLL-2003's script conlleval."""
        tags, _ = self._decode_tags(encoded_set, batches)
        gold_tags = [example.tags for example in encoded_set.examples]
        return entity_scoring.score_entities(gold_tags, tags)

    def write_dev_files(
        self,
        encoded_set: _EncodedSet,
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> None:
        """Writes the predictions of the dev set, and report.html."""
        tags, probabilities = self._decode_tags(encoded_set, batches)
        predicted_entities.write_entities(
            os.path.join(output_dir, "dev_predictions.jsonl"),
            encoded_set.examples,
            tags,
            probabilities,
            prefix="predicted_",
        )
        if not self.config.report:
            return
        gold_tags = [example.tags for example in encoded_set.examples]
        scores = entity_scoring.score_entities(gold_tags, tags)
        data_path = self.config.required_data_source
        predicted_entities.write_entity_report(
            os.path.join(output_dir, "report.html"),
            report.create_heading("NER", data_path, scores),
            encoded_set.examples,
            tags,
        )

    def write_and_score_predictions(
        self,
        encoded_set: _EncodedSet,
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> Scores:
        """Writes the predicted tags, and scores them if true tags are known."""
        tags, probabilities = self._decode_tags(encoded_set, batches)
        predicted_entities.write_entities(
            os.path.join(output_dir, "predictions.jsonl"),
            encoded_set.examples,
            tags,
            probabilities,
        )
        predicted_entities.write_columns(
            os.path.join(output_dir, "test_predictions.txt"),
            encoded_set.examples,
            tags,
        )
        gold_tags = [example.tags for example in encoded_set.examples]
        if {*itertools.chain.from_iterable(gold_tags)} <= {"O"}:
            return Scores()
        return entity_scoring.score_entities(gold_tags, tags)

    def _decode_tags(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> sentence_windows.ChosenTags:
        """Returns the tags of each sentence, and their probabilities."""
        probabilities = (
            to_probabilities(logits.astype(np.float32), CLASSIFICATION)
            for _, logits in batches
        )
        return sentence_windows.choose_tags(
            encoded_set.examples,
            encoded_set.decoding_contexts,
            itertools.chain.from_iterable(probabilities),
            self.labels,
            legal_tags=self.config.legal_tags,
        )
