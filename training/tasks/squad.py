"""Answers questions about passages, for run_squad.py."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np
from absl import logging

import modeling
from data.io import feature_specs
from data.predictions import report
from data.sets.set_names import SetName, base_set_of
from data.squad import (
    answer_decoding,
    answer_report,
    answer_scoring,
    token_spans,
)
from data.squad.passage_windows import (
    SquadFeatures,
    create_squad_features,
    encode_squad_features,
)
from data.squad.squad_examples import SquadExample
from data.squad.squad_options import to_settings
from data.squad.squad_sets import SquadSets
from data.text import token_windows
from files.json_files import write_json
from model_folders.bert_config import BertConfig
from model_folders.head_settings import SpanLabelerSettings
from model_folders.scores import Scores
from modeling.tensors import SpanOutputs
from training.config.squad_config import SquadConfig
from training.starting_point import StartingPoint
from training.task import Batches, EncodedSet, FineTuningTask, Scoring

if TYPE_CHECKING:
    from modeling.arguments import TaskModelArguments

_EncodedSet: TypeAlias = EncodedSet[SquadExample, SquadFeatures]
_Batches: TypeAlias = Batches[SpanOutputs]


class SquadTask(
    FineTuningTask[SquadConfig, SquadExample, SquadFeatures, SpanOutputs]
):
    """Finds the answer to a question in a passage.

    --predict_file is used for both evaluation and prediction.

    Args:
        starting_point: passed to `FineTuningTask`.
        sets: reads --train_file and --predict_file.
    """

    def __init__(
        self,
        starting_point: StartingPoint[SquadConfig],
        sets: SquadSets,
    ) -> None:
        # The records of evaluations do not contain the right answers, so
        # `compute_scores` takes the answers from this file.
        eval_files = []
        if sets.predict_file:
            eval_files = [os.fspath(sets.predict_file)]
        super().__init__(
            starting_point,
            loss=modeling.SpanLoss(),
            scoring=Scoring(
                ("f1",),
                # SQuAD's official scores are percentages, not fractions.
                percentage_point=1.0,
                eval_files=eval_files,
            ),
            # --predict_file is evaluated and predicted.
            test_sets=("dev",),
        )
        self.sets = sets

    @property
    def head_settings(self) -> SpanLabelerSettings:
        """Settings of the model's head: its windows, and how it answers."""
        return {
            **super().head_settings,
            **to_settings(self.config.windows, self.config.decoding),
        }

    def take_examples(self, set_name: SetName) -> Sequence[SquadExample] | None:
        """Returns the questions of --train_file or --predict_file."""
        return self.sets.take(base_set_of(set_name))

    def encode(
        self, set_name: SetName, examples: Sequence[SquadExample]
    ) -> Iterator[tuple[bytes, SquadFeatures]]:
        """Yields the windows of a set's questions, as TFRecords too.

        If the run trims padding, the longest windows of "dev" come first.
        """
        limit = self.config.windows.max_query_length
        counted = token_windows.log_num_cut(
            examples,
            lambda example: (
                len(self.tokenizer.tokenize(example.question_text)) > limit
            ),
            f"questions were longer than --max_query_length={limit} and were "
            "cut",
        )
        windows: Iterable[SquadFeatures] = create_squad_features(
            counted,
            self.tokenizer,
            self.config.windows,
            is_training=set_name == "train",
        )
        if set_name == "dev" and self.config.trims_padding:
            # Sort the windows by length. Then a batch contains windows of
            # similar length, and a lack of memory shows in the first batch.
            windows = sorted(windows, key=lambda window: -len(window.tokens))
        for window in windows:
            yield encode_squad_features(window), window

    def feature_spec(self, set_name: SetName) -> feature_specs.RecordSpec:
        """Returns {name: FeatureSpec} of a set's records.

        Only the records of "train" contain answers.
        """
        return feature_specs.squad_spec(
            self.config.windows.max_seq_length,
            is_training=set_name == "train",
        )

    def epoch_length(self, train_set: _EncodedSet) -> int:
        """Returns the number of questions, as in Google's code.

        The number of records is that of their windows.
        """
        return train_set.num_examples

    def create_model(
        self,
        bert_config: BertConfig,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "modeling.BertSpanLabeler":
        """Creates the BertSpanLabeler to train."""
        return modeling.BertSpanLabeler(bert_config, **arguments)

    def compute_scores(
        self, encoded_set: _EncodedSet, batches: _Batches
    ) -> Scores:
        """Computes the scores of SQuAD's official script for --predict_file."""
        answers = self.decode_answers(encoded_set, batches)
        gold_answers = self.sets.read_gold_answers()
        return self._score_answers(gold_answers, answers)

    def write_and_score_predictions(
        self, encoded_set: _EncodedSet, batches: _Batches, output_dir: str
    ) -> Scores:
        """Writes the answers, and report.html if --report is set.

        The answer files have the names and the format of Google's script.
        Returns the scores, which are empty if --predict_file contains no
        answers.
        """
        answers = self.decode_answers(encoded_set, batches)
        self._write_answers(answers, output_dir)
        try:
            gold_answers = self.sets.read_gold_answers()
        except answer_scoring.NoGoldAnswersError as error:
            logging.warning("The answers are not scored: %s", error)
            return Scores()
        scores = self._score_answers(gold_answers, answers)
        if self.config.report:
            self._write_report(answers, scores, output_dir)
        return scores

    def _write_answers(
        self, answers: answer_decoding.SquadAnswers, output_dir: str
    ) -> None:
        """Writes the files of Google's script."""
        contents: dict[str, Mapping[str, object]] = {
            "predictions.json": answers.texts,
            "nbest_predictions.json": answers.nbest,
        }
        if self.config.decoding.version_2_with_negative:
            contents["null_odds.json"] = answers.null_odds
        for name, content in contents.items():
            path = os.path.join(output_dir, name)
            write_json(path, content, indent=4)
        logging.info("Wrote %s to %s", ", ".join(contents), output_dir)

    def _write_report(
        self,
        answers: answer_decoding.SquadAnswers,
        scores: Scores,
        output_dir: str,
    ) -> None:
        """Writes report.html about the answers to --predict_file."""
        file = self.sets.read_predict_file()
        answer_report.write_answer_report(
            os.path.join(output_dir, "report.html"),
            report.create_heading("SQuAD", file.path, scores),
            file,
            answers.texts,
            version_2_with_negative=(
                self.config.decoding.version_2_with_negative
            ),
        )

    def decode_answers(
        self, encoded_set: _EncodedSet, batches: _Batches
    ) -> answer_decoding.SquadAnswers:
        """Turns the logits of all windows into answers to the questions."""
        results: list[token_spans.RawResult] = []
        for features, outputs in batches:
            # The logits are arrays, although SpanOutputs also means tensors.
            results += map(
                token_spans.RawResult,
                features["unique_ids"].tolist(),
                np.asarray(outputs["start_logits"]),
                np.asarray(outputs["end_logits"]),
            )
        # `encode` may have sorted the windows by length.
        windows = sorted(
            encoded_set.decoding_contexts, key=lambda window: window.unique_id
        )
        return answer_decoding.decode_predictions(
            encoded_set.examples,
            windows,
            results,
            self.config.decoding,
            self.tokenizer.basic_tokenizer,
        )

    def _score_answers(
        self,
        gold_answers: answer_scoring.GoldAnswers,
        answers: answer_decoding.SquadAnswers,
    ) -> Scores:
        scores = answer_scoring.score_predictions(
            gold_answers,
            answers.texts,
            nbest=answers.nbest,
            null_odds=answers.null_odds,
        )
        return Scores(scores)
