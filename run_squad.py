r"""Fine-tunes BERT on SQuAD v1.1 or v2.0, and predicts answers.

    python run_squad.py --train_file=train-v1.1.json \
        --predict_file=dev-v1.1.json --init_checkpoint=MODEL \
        --output_dir=output/squad --do_train --do_predict

Training resumes from the newest checkpoint in --output_dir.
"""

import dataclasses
import functools
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from absl import logging

import modeling
from command_line import cli, flags
from data import report
from data.io import feature_specs
from data.squad import decoding, passage_windows, reading, scoring
from data.text import token_windows
from files import atomic
from files.paths import Kind
from modeling import kinds
from training import task
from training.fine_tuning_config import FineTuningConfig
from training.resolve import read_preset, resolve


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(
    passage_windows.WindowOptions, decoding.DecodingOptions, FineTuningConfig
):
    """Flags of the script: Google's, and flags that this project adds."""

    train_file: str | None = flags.training(
        None,
        "Questions to train on, a file in SQuAD's JSON format.",
        kind=Kind.INPUT_FILE,
    )
    predict_file: str | None = flags.decoding(
        None,
        "Questions to answer, a file in SQuAD's JSON format.",
        kind=Kind.INPUT_FILE,
    )
    trim_padding: bool = flags.like(FineTuningConfig, "trim_padding", False)
    do_predict: bool = flags.like(
        FineTuningConfig,
        "do_predict",
        help="Answer the questions of --predict_file.",
    )
    predict_batch_size: int = flags.like(
        FineTuningConfig,
        "predict_batch_size",
        help="Number of windows in a batch of prediction and evaluation.",
    )
    report: bool = flags.neutral(
        False,
        "Write report.html about --predict_file. It counts what is right "
        "and wrong, and shows the worst predictions first.",
    )
    # As in Google's script, these are not flags: --do_predict also evaluates.
    data_dir: str = ""
    do_eval: bool = False
    eval_batch_size: int = 8

    head = kinds.SPAN_LABELER
    actions = ("do_train", "export_dir", "export_weights", "do_predict")

    def batch_size_of(self, purpose: str) -> int:
        """Returns the number of windows in a batch, as in Google's script."""
        return self.predict_batch_size

    @property
    def required(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        predicts = self.evaluates or self.do_predict
        files = {"train_file": self.do_train, "predict_file": predicts}
        return (*super().required, *(name for name in files if files[name]))

    def check(self) -> None:
        """Raises a ValueError if flags contradict each other."""
        super().check()
        if self.report and not self.do_predict:
            raise ValueError("--report needs --do_predict")


class SquadTask(task.Task):
    """Finds the answer to a question in a passage.

    --predict_file is used for both evaluation and prediction.
    """

    metrics = ("f1",)
    # SQuAD's official scores are percentages, so one hundredth is 1.0.
    hundredth = 1.0
    splits: Mapping[str, Sequence[str]] = MappingProxyType(
        {"train": ["train"], "eval": ["eval"], "predict": ["eval"]}
    )
    # As in Google's code, compute the number of training steps from the number
    # of questions, not of windows.
    counts_examples = True

    options: Config

    def __init__(self, options: Config) -> None:
        super().__init__(options)
        self.predict_file = options.predict_file or ""
        # The records of evaluations do not contain the right answers, so
        # `evaluate` reads the answers from this file.
        self.eval_files = [self.predict_file] if self.predict_file else []
        self.features: list[passage_windows.SquadFeatures] = []
        # Read the files before TensorFlow is imported, so that their errors
        # show quickly.
        needs = {
            "train": options.do_train,
            "eval": options.evaluates or options.do_predict,
        }
        self._read = {
            name: self._read_file(name) for name in needs if needs[name]
        }
        self.loss = modeling.SpanLoss()
        self.export_settings = {
            field.name: getattr(options, field.name)
            for field in (
                *dataclasses.fields(passage_windows.WindowOptions),
                *dataclasses.fields(decoding.DecodingOptions),
            )
        }

    def read_examples(self, split: str) -> Sequence[Any] | None:
        """Returns the questions of --train_file or --predict_file."""
        return self._read.pop(split)

    def _read_file(self, split: str) -> Sequence[Any]:
        # Raises a ValueError if the flags request an evaluation, but the file
        # contains no answers.
        is_training = split == "train"
        path: Any = (
            self.options.train_file if is_training else self.predict_file
        )
        examples = reading.read_squad_examples(
            path,
            is_training,
            self.options.version_2_with_negative,
            self.options.use_char_offsets,
        )
        if is_training:
            # Shuffle the questions as Google's code does. Then training needs
            # only a small buffer to shuffle the records.
            random.Random(12345).shuffle(examples)
        elif self.options.evaluates:
            # Score empty predictions. If the file contains no answers, this
            # fails now, and not after an epoch.
            scoring.score_predictions(
                path,
                {example.qas_id: "" for example in examples},
                self.options.version_2_with_negative,
            )
        return examples

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """Yields the windows of a split's questions as TFRecords.

        If the model skips padding, the longest windows of "eval" come first.
        """
        limit = self.options.max_query_length
        counted = token_windows.count_cut(
            examples,
            lambda each: (
                len(self.tokenizer.tokenize(each.question_text)) > limit
            ),
            f"questions were longer than --max_query_length={limit} and were "
            "cut",
        )
        features: Iterable[passage_windows.SquadFeatures] = (
            passage_windows.create_features(
                counted, self.tokenizer, self.options, split == "train"
            )
        )
        if split == "eval":
            features = self.features = [*features]
            if self.options.unpads:
                # Sort the windows by length. Then a batch contains windows of
                # similar length, and a lack of memory shows in the first batch.
                # The order does not matter later, because each record contains
                # an id.
                features = sorted(features, key=lambda each: -len(each.tokens))
        return map(passage_windows.encode_squad_features, features)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """Returns {name: Feature} of a split's records.

        Only the records of "train" contain answers.
        """
        return feature_specs.squad_features(
            self.options.max_seq_length, split == "train"
        )

    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> "modeling.BertSpanLabeler":
        """Creates the BertSpanLabeler to train."""
        return modeling.BertSpanLabeler(config, **options)

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Computes the scores of SQuAD's official script for --predict_file."""
        return self._score(*self.answer(batches))

    def write_predictions(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the answers, and report.html if --report is set.

        The answer files have the names and the format of Google's script.
        Returns the scores, or {} if --predict_file contains no answers.
        """
        predictions, nbest, null_odds = self.answer(batches)
        outputs = {
            "predictions.json": predictions,
            "nbest_predictions.json": nbest,
        }
        if self.options.version_2_with_negative:
            outputs["null_odds.json"] = null_odds
        for name, content in outputs.items():
            path = os.path.join(output_dir, name)
            atomic.write_json(path, content, indent=4)
        logging.info("Wrote %s to %s", ", ".join(outputs), output_dir)
        try:
            scores = self._score(predictions, nbest, null_odds)
        except ValueError as error:
            logging.warning("The answers are not scored: %s", error)
            return {}
        if self.options.report:
            is_v2 = self.options.version_2_with_negative
            path = os.path.join(output_dir, "report.html")
            file = self.predict_file
            heading = report.create_heading("SQuAD", file, scores)
            report.write_answers(path, heading, file, predictions, is_v2)
        return scores

    def answer(self, batches: task.Batches) -> tuple[dict, dict, dict]:
        """Returns three dicts: the answers, the n-best lists, the null odds.

        The keys of each dict are the ids of the questions.
        """
        results: list[decoding.RawResult] = []
        for features, outputs in batches:
            results += map(
                decoding.RawResult,
                features["unique_ids"].tolist(),
                outputs["start_logits"],
                outputs["end_logits"],
            )
        return decoding.decode_predictions(
            self.examples["eval"],
            self.features,
            results,
            self.options,
            self.tokenizer.basic_tokenizer,
        )

    def _score(
        self, predictions: dict, nbest: dict, null_odds: dict
    ) -> dict[str, float]:
        return scoring.score_predictions(
            self.predict_file,
            predictions,
            self.options.version_2_with_negative,
            nbest,
            null_odds,
        )


def main(flags: Config) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    preset = read_preset(flags)
    config = resolve(flags, preset)
    task = SquadTask(config)
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(task, config, preset)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
