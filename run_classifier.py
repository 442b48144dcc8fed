r"""Fine-tunes BERT to classify texts or pairs of texts, and predicts labels.

    python run_classifier.py --data_file=TABLE --init_checkpoint=MODEL \
        --output_dir=DIR

The table is CSV, TSV, JSON lines or Parquet. The other tasks are GLUE and XNLI
(--task_name=mrpc --data_dir=glue/MRPC --do_train --do_eval). Training resumes
from the newest checkpoint in --output_dir.
"""

import dataclasses
import functools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import modeling
from command_line import cli, flags
from data import report
from data.classification import (
    classifier_flags,
    decoding,
    features,
    glue,
    metrics,
    pairs,
    table_task,
)
from data.io import feature_specs, text_files
from modeling import kinds
from serving import answers
from training import task
from training.fine_tuning_config import DataFileConfig
from training.resolve import read_preset, resolve

if TYPE_CHECKING:
    import keras


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(DataFileConfig, classifier_flags.ClassifierOptions):
    """Flags of the script: Google's, and flags that this project adds."""

    task_name: str = flags.head(
        None,
        "csv reads your own train, dev and test files (.csv, .tsv, .jsonl or "
        ".parquet). embedding reads pairs of texts from such files, and "
        "ranking reads queries, passages and relevances.",
        choices=glue.TASK_NAMES,
    )

    def data_file_defaults(self) -> dict[str, Any]:
        """Returns {flag: its default with --data_file}."""
        return {
            **super().data_file_defaults(),
            "report": self.task_name != "embedding",
            "task_name": self.task_name or "csv",
        }

    @property
    def head(self) -> str | None:
        """Name of the model class that --task_name selects."""
        is_embedding = self.task_name == "embedding"
        return kinds.EMBEDDER if is_embedding else kinds.CLASSIFIER

    @property
    def required(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return (*super().required, "task_name")

    def check(self) -> None:
        """Raises a ValueError if flags contradict each other."""
        super().check()
        if self.task_name == "embedding" and (self.bilstm or self.report):
            raise ValueError("--bilstm and --report are not for embeddings")
        if self.glue_submission:
            glue.submission_file(self.task_name)


class ClassifierTask(task.Task):
    """Predicts a label, several labels or a number for a text or a pair."""

    options: Config

    def __init__(self, options: Config) -> None:
        super().__init__(options)
        # {split: index of each text's first record}, only with --doc_stride.
        self.starts: dict[str, list[int]] = {}
        self.processors = glue.create_processors(options)
        # The names of MultiNLI's mismatched dev and test sets end in "_mm".
        self.splits = {"train": ["train"]} | {
            purpose: [f"{purpose}{suffix}" for suffix in self.processors]
            for purpose in ("eval", "predict")
        }
        processor, name = self.processors[""], options.task_name
        if isinstance(processor, table_task.TableProcessor):
            self.options = processor.suit_flags(
                options, self.tokenizer, self.longest
            )
        self.labels, mode = processor.get_labels(), processor.output_mode
        self.label_words = glue.LABEL_WORDS.get(name, ())
        self.decoder = decoding.LabelDecoder(mode, self.labels)
        if options.class_weights and mode != "classification":
            raise ValueError(f"--class_weights is not for {mode}")
        losses = {
            "classification": modeling.ClassifierLoss,
            "multilabel": modeling.MultiLabelLoss,
            "regression": modeling.RegressionLoss,
            "ranking": modeling.RankingLoss,
        }
        self.loss = losses[name if name == "ranking" else mode]()
        self.eval_loss = self.loss
        # The first metric is the metric that the paper reports. The best step
        # is the step with its best value.
        self.metrics = processor.metrics
        self.settings: dict[str, Any] = {
            "task_name": name,
            "output_mode": mode,
            "labels": self.labels,
            # With 1, the export rejects a second text.
            "num_texts": len(processor.text_columns),
        }
        self.export_settings = {"doc_stride": self.options.doc_stride}
        if mode == "regression" and name == "csv":
            # A cross-encoder, which ranks passages, also has a single output.
            self.export_settings["num_texts"] = None

    def read_examples(self, split: str) -> Sequence[Any] | None:
        """Reads a split's examples. Returns None if a "_mm" set is missing."""
        purpose, processor = split.partition("_")[0], self._processor(split)
        name = text_files.SETS[purpose]
        try:
            examples = processor.read_set(self.options.data_dir, name)
        except FileNotFoundError:
            if split == purpose:
                raise
            return None
        if name == "test" and not processor.test_set_has_labels:
            examples = [dataclasses.replace(x, label=None) for x in examples]
        stride = self.options.doc_stride
        if stride and any(example.text_b for example in examples):
            raise ValueError(
                f"--doc_stride={stride} is for single texts, but the {split} "
                "set contains pairs; remove the flag, or use single texts"
            )
        if purpose == "train" and self.options.class_weights:
            weights = classifier_flags.balance_classes(
                self.labels or (), examples
            )
            self.loss = modeling.ClassifierLoss([*weights.values()])
            self.settings["class_weights"] = weights
        return examples

    def _processor(self, split: str) -> features.DataProcessor:
        # "eval_mm" belongs to the processor of "_mm".
        return self.processors["".join(split.partition("_")[1:])]

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """Yields the examples of a split, or their windows, as TFRecords."""
        length, stride = self.options.max_seq_length, self.options.doc_stride
        args = examples, self.labels, length, self.tokenizer
        if not stride:
            created = features.convert_examples_to_features(*args)
            yield from features.encode_features(created, length)
            return
        self.starts[split] = []
        num_records = 0
        for windows_of_text in features.create_windows(*args, stride):
            self.starts[split].append(num_records)
            num_records += len(windows_of_text)
            yield from map(
                features.encode_classification_features, windows_of_text
            )

    def feature_spec(self, split: str) -> dict[str, Any]:
        """Returns {name: Feature} of a split's records."""
        spec = feature_specs.classifier_features(
            self.options.max_seq_length,
            self.decoder.output_mode,
            self.decoder.num_outputs,
            bool(self.options.doc_stride) and split == "train",
        )
        if split.startswith("predict"):
            del spec["label_ids"]
        return spec

    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> "keras.Model":
        """Creates a BertClassifier with one output for each label."""
        return modeling.BertClassifier(
            config, self.decoder.num_outputs, **options
        )

    def pool(self, split: str, batches: task.Batches) -> task.Batches:
        """Combines the outputs of each text's windows (--doc_stride)."""
        if split not in self.starts:
            return batches
        return decoding.pool_batches(batches, self.starts[split])

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Computes the metrics of the task, such as Google's eval_accuracy."""
        labels = self.decoder.labels(decoding.concatenate(batches))
        examples, score = self.examples[split], self._processor(split).score
        return metrics.score_known(examples, labels, self.decoder, score)

    def write_report(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> None:
        """Writes the predictions of a table's dev set, and report.html."""
        examples = self.examples[split]
        if not self.options.report and examples[0].row is None:
            return
        outputs = decoding.concatenate(batches)
        path = os.path.join(output_dir, "dev_predictions.csv")
        self._write_table(path, examples, outputs)
        if self.options.report:
            suffix = split.removeprefix("eval")
            path = os.path.join(output_dir, f"report{suffix}.html")
            data = self.options.data_file or self.options.data_dir
            scores = self.evaluate(split, [({}, outputs)])
            mode = self.decoder.output_mode
            heading = report.create_heading(mode, data, scores)
            # Windows read the whole text.
            length = self.options.max_seq_length
            length = 2**31 if self.options.doc_stride else length
            report.write_labels(
                path,
                heading,
                examples,
                outputs,
                self.decoder,
                self.tokenizer,
                length,
            )

    def write_predictions(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predictions, and the file of --glue_submission."""
        suffix = split.removeprefix("predict")
        examples, outputs = self.examples[split], decoding.concatenate(batches)
        path = os.path.join(output_dir, "predictions.csv")
        self._write_table(path, examples, outputs)
        entries = (
            {"guid": x.guid, "text_a": x.text_a}
            | ({} if x.text_b is None else {"text_b": x.text_b})
            | ({} if x.label is None else {"gold_label": x.label})
            for x in examples
        )
        labels = decoding.write_predictions(
            output_dir, entries, outputs, self.decoder, suffix
        )
        if self.options.glue_submission:
            name = self.options.task_name + suffix.replace("_", "-")
            glue.write_submission(output_dir, name, labels)
        return self.evaluate(split, [({}, outputs)])

    def _write_table(
        self,
        path: str,
        examples: Sequence[features.InputExample],
        outputs: np.ndarray,
    ) -> None:
        # Writes the rows of a user's table, and the answers beside them.
        if examples[0].row is not None:
            rows = decoding.describe_rows(examples, outputs, self.decoder)
            answers.write(path, "csv", [[*rows]], None)


class EmbeddingTask(ClassifierTask):
    """Trains embedding vectors whose cosine shows how similar two texts are.

    If the train set contains scores, the loss is the cosine's squared error.
    Otherwise it is the cross entropy of finding each text's partner in a batch.
    """

    def __init__(self, options: Config) -> None:
        super().__init__(options)
        self.decoder = pairs.CosineDecoder()
        processor = self.processors[""]
        assert isinstance(processor, pairs.PairProcessor)
        self.processor = processor
        is_read = {"train": options.do_train, "eval": options.evaluates}
        splits = [split for split in is_read if is_read[split]]
        # {split: True if its pairs have scores}
        self.has_scores = {x: processor.has_scores(x) for x in splits}
        evaluated = self.has_scores.get("eval", True)
        # Without training, choose the loss that suits the evaluated set.
        is_scored = self.has_scores.get("train", evaluated)
        self.loss = modeling.CosineLoss()
        if not is_scored:
            self.loss = modeling.ContrastiveLoss(
                options.contrastive_temperature
            )
        self.eval_loss = self.loss if evaluated == is_scored else None
        if not evaluated:
            self.metrics = ("recall_1",)
        # Record the maximum length of one text, not of a pair.
        self.settings = {
            "task_name": options.task_name,
            "max_seq_length": self.options.max_seq_length,
        }

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """Yields the text pairs of a split as TFRecords."""
        unit = self.processor.score_unit(split, examples)
        length = self.options.max_seq_length
        created = pairs.create_pair_features(
            examples, length, self.tokenizer, unit
        )
        return features.encode_features(created, length)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """Returns {name: Feature} of a split's records of text pairs."""
        return feature_specs.pair_features(
            self.options.max_seq_length, self.has_scores.get(split, False)
        )

    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> "keras.Model":
        """Creates the BertEmbedder to train."""
        return modeling.BertEmbedder(config, **options)

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Computes the recall, or the correlation with known scores."""
        if self.has_scores.get(split, True):
            return super().evaluate(split, batches)
        every = decoding.concatenate(batches)
        partners = [each.text_b for each in self.examples[split]]
        return {"recall_1": pairs.recall_1(every, partners)}


def main(flags: Config) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    if flags.task_name == "csv":
        flags = classifier_flags.find_columns(flags)
    preset = read_preset(flags)
    config = resolve(flags, preset)
    is_embedding = config.task_name == "embedding"
    task = (EmbeddingTask if is_embedding else ClassifierTask)(config)
    # Import TensorFlow late, so that --help, wrong flags and wrong tables show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(task, task.options, preset)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
