"""Fine-tunes BERT to classify a sentence or a pair, evaluates and predicts.

GLUE's tasks, XNLI, and a user's own tables (--task_name=csv). Training
resumes from the newest checkpoint of --output_dir, if there is one.
"""

import dataclasses
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
    processors,
    report,
    table_task,
)
from data.classification import flags as classification_flags
from data.io import feature_specs
from data.text import tokenization
from training import metrics, text_samples
from training.command_line import flags as common_flags
from training.tasks import commands, task

LOSSES = {
    "classification": "ClassifierLoss",
    "multilabel": "MultiLabelLoss",
    "regression": "RegressionLoss",
}


def define_flags() -> None:
    """Defines the original's flags, and those this project adds."""
    common_flags.define_all_fine_tuning_flags(learning_rate=5e-5)
    classification_flags.define_task_flags()
    classification_flags.define_table_flags()


class ClassifierTask(task.Task):
    """Predicts a label of a text or a pair, several labels, or a number."""

    def prepare(self, config: Any, saved_labels: Sequence[str] | None) -> None:
        """Chooses the processors and the labels of --task_name."""
        options = self.options
        own = common_flags.read(classification_flags.ClassifierOptions)
        self.own, name = own, own.task_name.lower()
        self.writes_report = own.report
        if own.report and not options.do_eval:
            raise ValueError("--report needs --do_eval")
        if own.glue_submission:
            glue.submission_file(name)
            if not options.do_predict:
                raise ValueError("--glue_submission needs --do_predict")
        self.tokenizer = tokenization.load_tokenizer(options, config.vocab_size)
        table = common_flags.read(table_task.TableOptions)
        if table.labels is None and not options.do_train:
            table = dataclasses.replace(table, labels=saved_labels)
        self.processors = processors.create_processors(
            own.task_name, options.data_dir, table, own.xnli_language
        )
        processor = self.processors[""]
        self.labels = processor.get_labels()
        self.decoder = decoding.LabelDecoder(processor.output_mode, self.labels)
        self.loss = getattr(modeling, LOSSES[processor.output_mode])()
        if own.class_weights is not None:
            class_weights.check(own.class_weights, processor.output_mode)
        # The paper reports the last one.
        self.metrics = processor.metrics[::-1]
        self.settings: dict[str, Any] = {
            "task_name": name,
            "output_mode": processor.output_mode,
            "labels": self.labels,
        }

    def splits(self, purpose: str) -> list[str]:
        """Adds MultiNLI's mismatched sets."""
        if purpose == "train":
            return ["train"]
        return [f"{purpose}{suffix}" for suffix in self.processors]

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
        if purpose == "train" and self.own.class_weights:
            found = [example.label for example in examples]
            weights = class_weights.create(
                self.own.class_weights, self.labels, found
            )
            self.train_loss = modeling.ClassifierLoss([*weights.values()])
            self.settings["class_weights"] = weights
        return examples

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """See Task."""
        encoded = features.convert_examples_to_features(
            examples, self.labels, self.options.max_seq_length, self.tokenizer
        )
        return map(features.encode_classification_features, encoded)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """Returns the spec; a test set's labels may be unknown."""
        spec = feature_specs.classifier_features(
            self.options.max_seq_length,
            self.decoder.output_mode,
            self.decoder.num_outputs,
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
        return metrics.mean_of_models(outputs, self.decoder.output_mode)

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Returns the original's metric and the benchmark's."""
        labels, outputs = metrics.concatenate(batches)
        predictions = self.decoder.predictions(outputs)
        figures = metrics.compute_metrics(self.metrics, labels, predictions)
        if self.decoder.output_mode == "classification":
            figures["eval_accuracy"] = float(np.mean(predictions == labels))
        names = self.decoder.labels(outputs)
        labelled = zip(self.examples[split], names, strict=True)
        self.samples = decoding.describe_predictions(
            text_samples.spread([*labelled])
        )
        return figures

    def write_report(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> None:
        """See Task."""
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
        has_labels = self.processors[suffix].test_set_has_labels
        entries = (
            decoding.describe_example(example, has_labels)
            for example in examples
        )
        labels = decoding.write_predictions(
            output_dir, entries, batches, self.decoder, suffix
        )
        if self.own.glue_submission:
            name = self.own.task_name.lower() + suffix.replace("_", "-")
            glue.write_submission(output_dir, name, labels)
        if not has_labels:
            return {}
        right = [example.label for example in examples]
        return metrics.score_known(
            self.metrics, right, labels, self.decoder.label_ids
        )

    def export(self, export_dir: str, model: Any) -> None:
        """See Task."""
        serving.export_classifier(
            export_dir,
            model,
            self.labels,
            common_flags.read(serving.ServingOptions),
            self.decoder.output_mode,
        )


def command() -> None:
    """Runs the script as a command."""
    commands.run_task(ClassifierTask, define_flags, ("data_dir", "task_name"))


if __name__ == "__main__":
    command()
