"""Fine-tunes BERT to classify a sentence or a pair, evaluates and predicts.

GLUE's tasks, XNLI, and a user's own tables (--task_name=csv). Training
resumes from the newest checkpoint of --output_dir, if there is one.
"""

import dataclasses
import functools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import modeling
import serving
from data.classification import (
    class_weights,
    decoding,
    features,
    glue,
    metrics,
    report,
    table_task,
    tuning,
    windows,
)
from data.io import feature_specs
from data.text import tokenization
from files import flags
from files.labels import PROBLEM_TYPES
from tasks.embedding import EmbeddingTask
from training import task
from training.config import DataFolderConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(DataFolderConfig, table_task.TableOptions, windows.WindowOptions):
    """The script's flags: Google's, and those this project adds."""

    task_name: str = flags.head(
        None,
        f"One of {', '.join(glue.TASK_NAMES)}; csv is your own train, dev "
        "and test files, .csv, .tsv or .jsonl; embedding, pairs of texts in "
        "such files; ranking, their queries, passages and relevance.",
    )
    xnli_language: str = flags.head(
        "zh", "XNLI's language.", choices=features.XnliProcessor.languages
    )
    glue_submission: bool = flags.neutral(
        False, "Also write the predictions in GLUE's submission format."
    )
    class_weights: str | None = flags.training(
        None,
        "Class weights in the training loss: balanced, so that every class "
        'has equal total weight, or a JSON file, {"label": weight}.',
    )
    contrastive_temperature: float = flags.training(
        0.05,
        "embedding, without scores: divides the cosines of a batch's pairs "
        "before the softmax.",
        at_least=1e-3,
    )
    report: bool = flags.neutral(
        False,
        "Write report.html about the dev set: confusion matrix, calibration, "
        "the scores of each label and the most confident errors; in "
        "regression, a scatter plot.",
    )

    head = "BertClassifier"

    tune_thresholds: bool = flags.decoding(
        False,
        "With several labels, find for each the threshold of the best F1 on "
        "the dev set, instead of 0.5; the export keeps them. Needs --do_eval.",
    )
    calibrate: bool = flags.decoding(
        False,
        "Find one temperature on the dev set, so that probabilities say how "
        "often labels are right; the export keeps it. Needs --do_eval.",
    )

    @property
    def needed(self) -> tuple[str, ...]:
        """See ModelConfig."""
        return (*super().needed, "task_name")

    def __post_init__(self) -> None:
        """Checks the flags against each other."""
        if self.task_name:
            # Google's script takes it in any case.
            object.__setattr__(self, "task_name", self.task_name.lower())
        super().__post_init__()
        windows.check(self)
        unused = "report class_weights doc_stride tune_thresholds calibrate"
        for name in unused.split() if self.task_name == "embedding" else ():
            if getattr(self, name):
                raise ValueError(
                    f"--{name} is not used by --task_name=embedding, which "
                    "has neither labels nor windows; leave it out"
                )
        for name in ("report", "tune_thresholds", "calibrate"):
            if getattr(self, name) and not self.do_eval:
                raise ValueError(f"--{name} needs --do_eval")
        if self.glue_submission:
            glue.submission_file(self.task_name)
            if not self.do_predict:
                raise ValueError("--glue_submission needs --do_predict")


class ClassifierTask(task.Task):
    """Predicts a label of a text or a pair, several labels, or a number."""

    options: Config

    def __init__(self, options: Config) -> None:
        super().__init__(options)
        # With --doc_stride, {split: the first record of each text}.
        self.starts: dict[str, list[int]] = {}

    def prepare(self, config: Any, saved_labels: Sequence[str] | None) -> None:
        """Chooses the processors and the labels of --task_name."""
        options = self.options
        self.tokenizer = tokenization.load_tokenizer(options, config.vocab_size)
        table = options
        if table.labels is None and not options.do_train:
            table = dataclasses.replace(table, labels=saved_labels)
        self.processors = glue.create_processors(
            options.task_name, options.data_dir, table, options.xnli_language
        )
        # MultiNLI has mismatched sets, too.
        self.splits = {"train": ["train"]} | {
            purpose: [f"{purpose}{suffix}" for suffix in self.processors]
            for purpose in ("eval", "predict")
        }
        processor = self.processors[""]
        self.labels = processor.get_labels()
        name = options.task_name.lower()
        self.label_words = glue.LABEL_WORDS.get(name, ())
        # GLUE's labels exclude each other, whatever a model's folder says.
        if name == "csv" or not self.labels:
            self.problem_type = PROBLEM_TYPES[processor.output_mode]
        self.decoder = decoding.LabelDecoder(processor.output_mode, self.labels)
        mode = processor.output_mode
        if options.tune_thresholds and mode != "multilabel":
            raise ValueError(
                "--tune_thresholds needs several labels for each text "
                f"(--output_mode=multilabel), and these are of {mode}"
            )
        if options.calibrate and mode == "regression":
            raise ValueError(
                "--calibrate needs labels, and these are numbers (regression)"
            )
        if (
            options.calibrate
            and mode == "classification"
            and options.doc_stride
            and options.window_pooling == "max"
        ):
            raise ValueError("--calibrate needs --window_pooling=mean")
        losses = {
            "classification": modeling.ClassifierLoss,
            "multilabel": modeling.MultiLabelLoss,
            "regression": modeling.RegressionLoss,
        }
        self.loss = losses[processor.output_mode]()
        if name == "ranking":
            self.loss = modeling.RankingLoss()
        if options.class_weights is not None:
            class_weights.check(options.class_weights, processor.output_mode)
        # The paper reports the last one.
        self.metrics = processor.metrics[::-1]
        self.settings: dict[str, Any] = {
            "task_name": options.task_name,
            "output_mode": processor.output_mode,
            "labels": self.labels,
        }

    def read_examples(self, split: str) -> Sequence[Any] | None:
        """Returns the InputExamples; None if a mismatched set is missing."""
        purpose, mark, suffix = split.partition("_")
        try:
            examples = self.processors[mark + suffix].read_split(
                self.options.data_dir, purpose
            )
        except FileNotFoundError:
            if not suffix:
                raise
            return None
        if self.options.doc_stride and any(each.text_b for each in examples):
            raise ValueError(
                f"--doc_stride={self.options.doc_stride} reads single texts in "
                f"windows, and the {split} set has pairs; leave it out, or "
                "give texts without a second one"
            )
        if purpose == "train" and self.options.class_weights:
            found = [example.label for example in examples]
            weights = class_weights.create(
                self.options.class_weights, self.labels, found
            )
            self.train_loss = modeling.ClassifierLoss([*weights.values()])
            self.settings["class_weights"] = weights
        return examples

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """See Task."""
        length, stride = self.options.max_seq_length, self.options.doc_stride
        if not stride:
            encoded = features.convert_examples_to_features(
                examples, self.labels, length, self.tokenizer
            )
            encoded = features.count_cut(encoded, length)
            yield from map(features.encode_classification_features, encoded)
            return
        self.starts[split] = starts = []
        num_records = 0
        for found in features.create_windows(
            examples, self.labels, length, self.tokenizer, stride
        ):
            starts.append(num_records)
            num_records += len(found)
            yield from map(features.encode_classification_features, found)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """Returns the spec; a test set's labels may be unknown."""
        spec = feature_specs.classifier_features(
            self.options.max_seq_length,
            self.decoder.output_mode,
            self.decoder.num_outputs,
            bool(self.options.doc_stride) and split == "train",
        )
        if split.startswith("predict"):
            del spec["label_ids"]
        return spec

    def create_model(self, config: Any, **options: Any) -> Any:
        """See Task."""
        return modeling.BertClassifier(
            config, self.decoder.num_outputs, **options
        )

    def combine(self, outputs: Sequence[Any]) -> Any:
        """Returns the mean of values, or logits of mean probabilities."""
        if self.decoder.output_mode == "regression":
            return np.mean(outputs, axis=0)
        if self.decoder.output_mode == "classification":
            return super().combine(outputs)
        # Each label is a choice of two: it applies or not.
        pairs = [np.stack([held, 0 * held], axis=-1) for held in outputs]
        mean = super().combine(pairs)
        return mean[..., 0] - mean[..., 1]

    def pool(self, split: str, batches: task.Batches) -> task.Batches:
        """Returns one batch of texts, if the records are windows."""
        if split not in self.starts:
            return batches
        return windows.pool_batches(
            batches,
            self.starts[split],
            self.decoder.output_mode,
            self.options.window_pooling,
        )

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Returns the original's metric and the benchmark's."""
        return self._score(split, *metrics.concatenate(batches))

    def _score(
        self, split: str, labels: np.ndarray, outputs: np.ndarray
    ) -> dict[str, float]:
        predictions = self.decoder.predictions(outputs)
        processor = self.processors[split.removeprefix("eval")]
        figures = processor.score(
            self.examples[split],
            self.metrics,
            labels,
            predictions,
            self.decoder.label_list,
        )
        if self.decoder.output_mode == "classification":
            figures["eval_accuracy"] = float(np.mean(predictions == labels))
        names = self.decoder.labels(outputs)
        self.samples = [
            decoding.describe_example(example, True) | {"label": name}
            for example, name in zip(self.examples[split], names, strict=True)
        ]
        return figures

    def tune(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Fits --calibrate and --tune_thresholds to the matched dev set."""
        options, decoder = self.options, self.decoder
        if not (options.calibrate or options.tune_thresholds):
            return {}
        labels, outputs = metrics.concatenate(batches)
        figures = {}
        if options.calibrate:
            found = tuning.confidences(decoder, labels, outputs)
            figures["ece_before"] = tuning.calibration_error(*found)
            if split == "eval":
                decoder.temperature = tuning.fit_temperature(
                    decoder.output_mode, labels, outputs
                )
            found = tuning.confidences(decoder, labels, outputs)
            figures["ece"] = tuning.calibration_error(*found)
            figures["temperature"] = decoder.temperature
        if options.tune_thresholds and split == "eval":
            decoder.thresholds = tuning.find_thresholds(
                self.labels or (), labels, decoder.probabilities(outputs)
            )
        return figures | self._score(split, labels, outputs)

    def write_report(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> None:
        """See Task."""
        if not self.options.report:
            return
        labels, outputs = metrics.concatenate(batches)
        suffix = split.removeprefix("eval")
        path = os.path.join(output_dir, f"report{suffix}.html")
        report.write_report(
            path, self.examples[split], labels, outputs, self.decoder
        )

    def write_predictions(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predictions, and GLUE's submission if asked to."""
        suffix = split.removeprefix("predict")
        examples = self.examples[split]
        processor = self.processors[suffix]
        has_labels = processor.test_set_has_labels
        entries = (
            decoding.describe_example(example, has_labels)
            for example in examples
        )
        labels = decoding.write_predictions(
            output_dir, entries, batches, self.decoder, suffix
        )
        if self.options.glue_submission:
            name = self.options.task_name + suffix.replace("_", "-")
            glue.write_submission(output_dir, name, labels)
        if not has_labels:
            return {}
        right = [example.label for example in examples]
        return metrics.score_known(
            self.metrics,
            right,
            labels,
            self.decoder.label_ids,
            functools.partial(
                processor.score,
                examples,
                label_names=self.decoder.label_list,
            ),
        )

    def evaluate_export(
        self, export_dir: str, split: str, create_batches: Any
    ) -> dict[str, dict[str, float]]:
        """See Task."""

        def read(outputs: dict[str, np.ndarray]) -> np.ndarray:
            if self.decoder.output_mode == "regression":
                return outputs["values"][:, None]
            return self.decoder.temperature * windows.to_logits(
                outputs["probabilities"], self.decoder.output_mode
            )

        return serving.evaluate_export(
            self, export_dir, split, create_batches, read
        )

    def export(self, export_dir: str, model: Any) -> None:
        """See Task."""
        serving.export_classifier(
            export_dir,
            model,
            self.labels,
            serving.ServingOptions(
                self.tokenizer,
                self.options.max_seq_length,
                self.options.predict_batch_size,
                self.options,
            ),
            self.decoder.output_mode,
            self.options,
            self.decoder.temperature,
            self.decoder.thresholds,
        )


def create_task(options: Config) -> task.Task:
    """Returns the task of --task_name."""
    is_embedding = options.task_name == "embedding"
    return (EmbeddingTask if is_embedding else ClassifierTask)(options)


def command() -> None:
    """Runs the script as a command."""
    task.run_command(create_task, Config)


if __name__ == "__main__":
    command()
