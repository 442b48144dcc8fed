"""Fine-tunes BERT on SQuAD v1.1 or v2.0, and predicts answers.

Training resumes from the newest checkpoint of --output_dir, if there is one.
"""

import os
import random
from collections.abc import Iterator, Sequence
from typing import Any

from absl import logging

import modeling
import serving
from data.io import feature_specs
from data.squad import (
    answers,
    decoding,
    reading,
    records,
    report,
    scoring,
    windows,
)
from data.squad import flags as squad_flags
from data.text import tokenization
from files import paths
from training import text_samples
from training.command_line import cli
from training.command_line import flags as common_flags
from training.options import FineTuningOptions
from training.tasks import commands, task


def define_flags() -> None:
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_fine_tuning_flags(trim_padding=False)
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    cli.define_path(
        "output_dir",
        paths.Kind.RUN_FOLDER,
        "Folder for checkpoints, records and results.",
    )
    for name, use in (("train_file", "train on"), ("predict_file", "answer")):
        cli.define_path(name, paths.Kind.INPUT_FILE, f"SQuAD JSON to {use}.")
    squad_flags.define_task_flags()
    squad_flags.define_window_flags()
    squad_flags.define_decoding_flags()


class SquadTask(task.Task):
    """Finds the answer to a question in a passage.

    --predict_file is used for both evaluation and prediction.
    """

    metrics = ("f1",)
    has_eval_loss = False

    def __init__(self, options: FineTuningOptions) -> None:
        super().__init__(options)
        self.features: list[windows.SquadFeatures] = []

    def prepare(self, config: Any, saved_labels: Sequence[str] | None) -> None:
        """See Task."""
        options, own = self.options, common_flags.read(squad_flags.SquadOptions)
        self.own = own
        if own.report and not options.do_predict:
            raise ValueError("--report needs --do_predict")
        if options.do_train and not own.train_file:
            raise ValueError("--do_train needs --train_file")
        if (options.evaluates or options.do_predict) and not own.predict_file:
            raise ValueError(
                "--predict_file is needed, to evaluate and predict"
            )
        self.loss = modeling.SpanLoss()
        self.windows = common_flags.read(windows.WindowOptions)
        self.decoding = common_flags.read(decoding.DecodingOptions)
        self.tokenizer = tokenization.load_tokenizer(options, config.vocab_size)

    def splits(self, purpose: str) -> list[str]:
        """Evaluates and predicts the same split."""
        return ["train" if purpose == "train" else "eval"]

    def read_examples(self, split: str) -> Sequence[Any] | None:
        """See Task."""
        is_training = split == "train"
        path = self.own.train_file if is_training else self.own.predict_file
        examples = reading.read_squad_examples(
            path, is_training, self.own.version_2_with_negative
        )
        if is_training:
            # Shuffled once here, as in the original, so that a small buffer of
            # records is enough.
            random.Random(12345).shuffle(examples)
        elif self.options.evaluates:
            # Fails now, not after an epoch, if the file has no answers.
            scoring.score_predictions(
                path,
                {example.qas_id: "" for example in examples},
                self.own.version_2_with_negative,
            )
        return examples

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """See Task; in "eval" with padding left out, the longest come first."""
        if split == "train":
            return records.create_records(
                examples,
                self.tokenizer,
                self.windows,
                is_training=True,
                num_processes=self.own.num_processes,
            )
        features = self.features = list(
            windows.create_features(
                examples, self.tokenizer, self.windows, is_training=False
            )
        )
        if self.options.unpads:
            # Windows of similar length share a batch, and a lack of memory
            # shows at once. Ids identify the questions.
            features = sorted(features, key=lambda each: -len(each.tokens))
        return (records.encode_squad_features(each, False) for each in features)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """See Task."""
        return feature_specs.squad_features(
            self.options.max_seq_length, split == "train"
        )

    def num_train_examples(self, num_examples: int, num_records: int) -> int:
        """Returns the questions; the original does not count windows."""
        return num_examples

    def create_model(self, config: Any, **options: Any) -> Any:
        """See Task."""
        return modeling.BertSpanLabeler(config, **options)

    def combine(self, outputs: Sequence[Any]) -> Any:
        """Returns the list of outputs; `answer` averages their n-best lists."""
        return list(outputs)

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Returns the official scores."""
        return self._score(*self.answer(batches))

    def write_predictions(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the original's files, and the report if asked to."""
        predictions, nbest, null_odds = self.answer(batches)
        outputs = {
            "predictions.json": predictions,
            "nbest_predictions.json": nbest,
        }
        if self.own.version_2_with_negative:
            outputs["null_odds.json"] = null_odds
        answers.write_json_files(output_dir, outputs)
        try:
            scores = self._score(predictions, nbest, null_odds)
        except ValueError as error:
            logging.warning("Not scored: %s", error)
            return {}
        if self.own.report:
            path = os.path.join(output_dir, "report.html")
            report.write_report(
                path,
                self.own.predict_file,
                predictions,
                self.own.version_2_with_negative,
            )
        return scores

    def answer(self, batches: task.Batches) -> tuple[dict, dict, dict]:
        """Returns the answers, as decoding.decode_predictions does."""
        return answers.find_answers(
            self.examples["eval"], self.features, batches, self.decoding
        )

    def _score(
        self, predictions: dict, nbest: dict, null_odds: dict
    ) -> dict[str, float]:
        file = self.own.predict_file
        is_v2 = self.own.version_2_with_negative
        scores = scoring.score_outputs(file, predictions, nbest, null_odds)
        self.samples = text_samples.spread(
            report.describe_answers(file, predictions, is_v2)
        )
        return scores

    def export(self, export_dir: str, model: Any) -> None:
        """See Task."""
        serving.export_span_labeler(
            export_dir,
            model,
            self.options.vocab_file,
            self.windows,
            self.decoding,
            self.options.predict_batch_size,
            self.options,
        )


def command() -> None:
    """Runs the script as a command."""
    commands.run_task(SquadTask, define_flags, required=())


if __name__ == "__main__":
    command()
