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
from typing import Any, cast

from absl import logging

import modeling
from command_line import cli, flags
from command_line.flags import group, like
from command_line.path_flags import Kind
from data import report
from data.io import feature_specs
from data.squad import decoding, passage_windows, reading, scoring
from data.squad.options import DecodingOptions, WindowOptions
from data.tables.tables import LayoutOptions
from data.text import token_windows
from files import atomic
from modeling import kinds
from modeling.folders.model_entries import HeadSettings
from training import task
from training.fine_tuning_config import FineTuningConfig, FineTuningFlags
from training.start import Start, read_start
from training.training_config import TrainingFlags


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(FineTuningConfig):
    """Flags of the script: Google's, and flags that this project adds."""

    # As in Google's script, --do_eval is no flag: --do_predict also evaluates.
    training: TrainingFlags = group(
        TrainingFlags,
        without=("do_eval",),
        trim_padding=like(default=False),
    )
    fine_tuning: FineTuningFlags = group(
        FineTuningFlags,
        without=("data_dir", "eval_batch_size"),
        shared=("max_seq_length",),
        do_predict=like(help="Answer the questions of --predict_file."),
        predict_batch_size=like(
            help="Number of windows in a batch of prediction and evaluation."
        ),
    )
    table: LayoutOptions = group(LayoutOptions)
    windows: WindowOptions = group(WindowOptions)
    decoding: DecodingOptions = group(DecodingOptions, shared=("trim_padding",))
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
    report: bool = flags.neutral(
        False,
        "Write report.html about --predict_file. It counts what is right "
        "and wrong, and shows the worst predictions first.",
    )

    head = kinds.SPAN_LABELER
    actions = ("do_train", "export_dir", "export_weights", "do_predict")

    def batch_size_of(self, purpose: str) -> int:
        """Returns the number of windows in a batch, as in Google's script."""
        return self.fine_tuning.predict_batch_size

    @property
    def reads_predict_file(self) -> bool:
        """Whether the command evaluates or predicts."""
        return self.evaluates or self.fine_tuning.do_predict

    @property
    def required_data(self) -> tuple[str, ...]:
        """Flags that name the data which the command reads."""
        names = []
        if self.training.do_train:
            names.append("train_file")
        if self.reads_predict_file:
            names.append("predict_file")
        return tuple(names)

    def files_of(self, split: str) -> Sequence[str]:
        """Returns the file of the questions of a split."""
        file = self.train_file if split == "train" else self.predict_file
        return [file] if file else []

    def check(self, given: frozenset[str]) -> None:
        """Raises a ValueError if flags contradict each other."""
        super().check(given)
        if self.report and not self.fine_tuning.do_predict:
            raise ValueError("--report needs --do_predict")


class SquadReader:
    """Reads --train_file and --predict_file, if the command needs them.

    The files are read at once, so that their errors show before TensorFlow is
    imported.

    Attributes:
        asked: the questions and answers of --predict_file, None if the command
            does not read it.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is not in SQuAD's layout, or the flags request an
            evaluation, but --predict_file contains no answers.
    """

    def __init__(self, config: Config) -> None:
        self.asked: reading.SquadFile | None = None
        self._examples: dict[str, list[reading.SquadExample]] = {}
        is_v2 = config.decoding.version_2_with_negative
        by_chars = config.windows.use_char_offsets
        layout = config.table.layout()
        if config.training.do_train:
            file = reading.SquadFile(str(config.train_file), layout)
            examples = reading.read_squad_examples(
                file,
                is_training=True,
                version_2_with_negative=is_v2,
                use_char_offsets=by_chars,
            )
            # Shuffle the questions as Google's code does. Then training needs
            # only a small buffer to shuffle the records.
            random.Random(12345).shuffle(examples)
            self._examples["train"] = examples
        if config.reads_predict_file:
            self.asked = reading.SquadFile(str(config.predict_file), layout)
            examples = reading.read_squad_examples(
                self.asked,
                is_training=False,
                version_2_with_negative=is_v2,
                use_char_offsets=by_chars,
            )
            self._examples["eval"] = examples
            if config.evaluates:
                # Score empty predictions. If the file contains no answers,
                # this fails now, and not after an epoch.
                nothing = {example.qas_id: "" for example in examples}
                scoring.score_predictions(self.asked, nothing, is_v2)

    def take(self, split: str) -> list[reading.SquadExample]:
        """Returns the questions of "train" or "eval", and releases them."""
        return self._examples.pop(split)


_Split = task.Split[reading.SquadExample, passage_windows.SquadFeatures]


class SquadTask(task.Task[reading.SquadExample, passage_windows.SquadFeatures]):
    """Finds the answer to a question in a passage.

    --predict_file is used for both evaluation and prediction.

    Args:
        start: what the command starts from.
        reader: reads --train_file and --predict_file.
    """

    metrics = ("f1",)
    # SQuAD's official scores are percentages, so one hundredth is 1.0.
    hundredth = 1.0
    splits = MappingProxyType(
        {"train": ["train"], "eval": ["eval"], "predict": ["eval"]}
    )
    # As in Google's code, compute the number of training steps from the number
    # of questions, not of windows.
    counts_examples = True

    config: Config

    def __init__(self, start: Start[Config], reader: SquadReader) -> None:
        super().__init__(start)
        self.reader = reader
        # The records of evaluations do not contain the right answers, so
        # `evaluate` takes the answers from this file.
        if reader.asked:
            self.eval_files = [reader.asked.path]
        self.loss = modeling.SpanLoss()
        self.export_settings = cast(
            "HeadSettings",
            {**vars(self.config.windows), **vars(self.config.decoding)},
        )

    def read_examples(
        self, split: str
    ) -> Sequence[reading.SquadExample] | None:
        """Returns the questions of --train_file or --predict_file."""
        return self.reader.take(split)

    def encode(
        self, split: str, examples: Sequence[reading.SquadExample]
    ) -> Iterator[tuple[bytes, passage_windows.SquadFeatures]]:
        """Yields the windows of a split's questions, as TFRecords too.

        If the model skips padding, the longest windows of "eval" come first.
        """
        limit = self.config.windows.max_query_length
        counted = token_windows.count_cut(
            examples,
            lambda each: (
                len(self.tokenizer.tokenize(each.question_text)) > limit
            ),
            f"questions were longer than --max_query_length={limit} and were "
            "cut",
        )
        windows: Iterable[passage_windows.SquadFeatures] = (
            passage_windows.create_features(
                counted, self.tokenizer, self.config.windows, split == "train"
            )
        )
        if split == "eval" and self.config.unpads:
            # Sort the windows by length. Then a batch contains windows of
            # similar length, and a lack of memory shows in the first batch.
            windows = sorted(windows, key=lambda each: -len(each.tokens))
        for window in windows:
            yield passage_windows.encode_squad_features(window), window

    def feature_spec(self, split: str) -> feature_specs.Spec:
        """Returns {name: Feature} of a split's records.

        Only the records of "train" contain answers.
        """
        return feature_specs.squad_features(
            self.config.windows.max_seq_length, split == "train"
        )

    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> "modeling.BertSpanLabeler":
        """Creates the BertSpanLabeler to train."""
        return modeling.BertSpanLabeler(config, **options)

    def evaluate(
        self, split: _Split, batches: task.Batches
    ) -> dict[str, float]:
        """Computes the scores of SQuAD's official script for --predict_file."""
        return self._score(*self.answer(split, batches))

    def write_predictions(
        self, split: _Split, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the answers, and report.html if --report is set.

        The answer files have the names and the format of Google's script.
        Returns the scores, or {} if --predict_file contains no answers.
        """
        predictions, nbest, null_odds = self.answer(split, batches)
        outputs: dict[str, Mapping[str, object]] = {
            "predictions.json": predictions,
            "nbest_predictions.json": nbest,
        }
        is_v2 = self.config.decoding.version_2_with_negative
        if is_v2:
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
        if self.config.report:
            file = self._asked
            heading = report.create_heading("SQuAD", file.path, scores)
            path = os.path.join(output_dir, "report.html")
            report.write_answers(path, heading, file, predictions, is_v2)
        return scores

    def answer(self, split: _Split, batches: task.Batches) -> decoding.Answers:
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
        # `encode` may have sorted the windows by length.
        windows = sorted(split.origins, key=lambda each: each.unique_id)
        return decoding.decode_predictions(
            split.examples,
            windows,
            results,
            self.config.decoding,
            self.tokenizer.basic_tokenizer,
        )

    @property
    def _asked(self) -> reading.SquadFile:
        # Only commands that read --predict_file evaluate and predict.
        assert self.reader.asked
        return self.reader.asked

    def _score(
        self,
        predictions: Mapping[str, str],
        nbest: Mapping[str, list[decoding.NbestEntry]],
        null_odds: Mapping[str, float],
    ) -> dict[str, float]:
        return scoring.score_predictions(
            self._asked,
            predictions,
            self.config.decoding.version_2_with_negative,
            nbest,
            null_odds,
        )


def main(parsed: flags.Parsed[Config]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    start = read_start(parsed)
    squad_task = SquadTask(start, SquadReader(start.config))
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(squad_task, start)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
