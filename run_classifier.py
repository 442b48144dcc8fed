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
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import modeling
from command_line import cli, config_values, flags
from command_line.flags import group
from data import report
from data.classification import (
    classifier_flags,
    decoding,
    features,
    glue,
    metrics,
    pairs,
    processor_file,
    reading,
)
from data.classification.classifier_flags import (
    ClassifierOptions,
    TableOptions,
)
from data.classification.label_set import balance_classes
from data.io import feature_specs
from data.tables.tables import Table
from modeling import kinds
from modeling.folders.model_entries import HeadSettings
from training import task
from training.fine_tuning_config import DataFileConfig
from training.start import Start, read_start, suit
from training.tasks import prediction_files
from training.tasks.embedding import EmbeddingTask
from training.trained_rows import with_table_split

if TYPE_CHECKING:
    from modeling.task_loss import Loss


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(DataFileConfig):
    """Flags of the script: Google's, and flags that this project adds."""

    table: TableOptions = group(TableOptions)
    classifier: ClassifierOptions = group(ClassifierOptions)
    task_name: str = flags.head(
        None,
        "csv reads your own train, dev and test files (.csv, .tsv, .jsonl, "
        ".json, .xlsx or .parquet). embedding reads pairs of texts from such "
        "files, and ranking reads queries, passages and relevances. For a "
        "class of your own, set --processor.",
        choices=reading.TASK_NAMES,
    )

    def prepare(self, given: frozenset[str]) -> Self:
        """Returns the flags, completed by what other flags imply.

        Raises:
            ValueError: two flags name the reader of the task.
        """
        prepared = super().prepare(given)
        if not self.classifier.processor:
            return prepared
        if self.data.data_file or self.task_name not in (None, "csv"):
            raise ValueError(
                "set either --processor, or --task_name, or --data_file"
            )
        # Its predictions and exports are those of a user's own tables.
        return dataclasses.replace(prepared, task_name="csv")

    def data_file_defaults(self) -> dict[str, object]:
        """Returns {flag: its default with --data_file}."""
        return {
            **super().data_file_defaults(),
            "report": not self.is_embedding,
            "task_name": self.task_name or "csv",
        }

    @property
    def is_embedding(self) -> bool:
        """Whether the model computes vectors of texts."""
        return self.task_name == "embedding"

    @property
    def head(self) -> str | None:
        """Name of the model class that --task_name selects."""
        return kinds.EMBEDDER if self.is_embedding else kinds.CLASSIFIER

    @property
    def required(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return (*super().required, "task_name")

    def check(self, given: frozenset[str]) -> None:
        """Raises a ValueError if flags contradict each other."""
        super().check(given)
        if self.is_embedding and (self.fine_tuning.bilstm or self.report):
            raise ValueError("--bilstm and --report are not for embeddings")
        if self.classifier.glue_submission:
            glue.submission_file(self.task_name)


_Split = task.Split[features.InputExample, int]


class ClassifierTask(task.Task[features.InputExample, int]):
    """Predicts a label, several labels or a number for a text or a pair.

    Args:
        start: what the command starts from.
        reader: reads the splits.
        labels: labels in the order of the model's outputs, None in regression.
        class_weights: {label: weight in the training loss}, {} for equal
            weights.
    """

    config: Config

    def __init__(
        self,
        start: Start[Config],
        reader: reading.ClassificationReader,
        labels: list[str] | None,
        class_weights: Mapping[str, float],
    ) -> None:
        super().__init__(start)
        self.reader = reader
        # The names of MultiNLI's mismatched dev and test sets end in "_mm".
        self.splits = reader.splits
        self.max_seq_length = self.config.fine_tuning.max_seq_length
        self.doc_stride = self.config.classifier.doc_stride
        self.labels = labels
        name = self.config.task_name
        mode = reader.output_mode
        self.label_words = glue.LABEL_WORDS.get(name, ())
        self.decoder = decoding.LabelDecoder(mode, labels)
        # The first metric is the metric that the paper reports. The best step
        # is the step with its best value.
        self.metrics = reader.metrics
        self.settings: HeadSettings = {
            "task_name": name,
            "output_mode": mode,
            "labels": labels,
            # With 1, the export rejects a second text.
            "num_texts": reader.num_texts
            or start.recorded_settings.get("num_texts"),
            **reader.settings,
        }
        self.export_settings: HeadSettings = {"doc_stride": self.doc_stride}
        if mode == "regression" and name == "csv":
            # A cross-encoder, which ranks passages, also has a single output.
            self.export_settings["num_texts"] = None
        if class_weights:
            self.settings["class_weights"] = class_weights
        self.eval_loss = self.create_loss()
        self.loss = self.create_loss([*class_weights.values()])

    def create_loss(self, class_weights: Sequence[float] = ()) -> "Loss":
        """Creates the loss of the task's kind of labels."""
        if self.config.task_name == "ranking":
            return modeling.RankingLoss()
        if self.reader.output_mode == "regression":
            return modeling.RegressionLoss()
        if self.reader.output_mode == "multilabel":
            return modeling.MultiLabelLoss()
        return modeling.ClassifierLoss(class_weights or None)

    def read_examples(
        self, split: str
    ) -> Sequence[features.InputExample] | None:
        """Reads a split's examples. Returns None if a "_mm" set is missing.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file is malformed, or contains pairs although
                --doc_stride is set.
        """
        examples = self.reader.take(split)
        has_pairs = any(example.text_b for example in examples or ())
        if self.doc_stride and has_pairs:
            raise ValueError(
                f"--doc_stride={self.doc_stride} is for single texts, but the "
                f"{split} set contains pairs; remove the flag, or use single "
                "texts"
            )
        return examples

    def encode(
        self, split: str, examples: Sequence[features.InputExample]
    ) -> Iterator[tuple[bytes, int]]:
        """Yields the examples of a split as TFRecords.

        With --doc_stride, an example becomes several windows. The origin of a
        record is the index of its example.
        """
        if not self.doc_stride:
            created = features.convert_examples_to_features(
                examples, self.labels, self.max_seq_length, self.tokenizer
            )
            encoded = features.encode_features(created, self.max_seq_length)
            for index, record in enumerate(encoded):
                yield record, index
            return
        windows = features.create_windows(
            examples,
            self.labels,
            self.max_seq_length,
            self.tokenizer,
            self.doc_stride,
        )
        for index, windows_of_text in enumerate(windows):
            for window in windows_of_text:
                yield features.encode_classification_features(window), index

    def feature_spec(self, split: str) -> feature_specs.Spec:
        """Returns {name: Feature} of a split's records."""
        spec = feature_specs.classifier_features(
            self.max_seq_length,
            self.decoder.output_mode,
            self.decoder.num_outputs,
            has_weights=bool(self.doc_stride) and split == "train",
        )
        if split.startswith("predict"):
            del spec["label_ids"]
        return spec

    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> "modeling.BertClassifier":
        """Creates a BertClassifier with one output for each label."""
        return modeling.BertClassifier(
            config, self.decoder.num_outputs, **options
        )

    def pool(self, split: _Split, batches: task.Batches) -> task.Batches:
        """Combines the outputs of each text's windows (--doc_stride)."""
        if not self.doc_stride:
            return batches
        # The first record of each text.
        starts = [
            row
            for row, index in enumerate(split.origins)
            if row == 0 or index != split.origins[row - 1]
        ]
        return decoding.pool_batches(batches, starts)

    def evaluate(
        self, split: _Split, batches: task.Batches
    ) -> dict[str, float]:
        """Computes the metrics of the task, such as Google's eval_accuracy."""
        return self._score(split, decoding.concatenate(batches))

    def write_report(
        self, split: _Split, batches: task.Batches, output_dir: str
    ) -> None:
        """Writes the predictions of a table's dev set, and report.html."""
        if not self.config.report and split.examples[0].row is None:
            return
        outputs = decoding.concatenate(batches)
        path = os.path.join(output_dir, "dev_predictions.csv")
        prediction_files.write_rows(path, split.examples, outputs, self.decoder)
        if not self.config.report:
            return
        scores = self._score(split, outputs)
        # Windows read the whole text.
        length = 2**31 if self.doc_stride else self.max_seq_length
        data = self.config.data.data_file or self.config.fine_tuning.data_dir
        suffix = split.name.removeprefix("eval")
        report.write_labels(
            os.path.join(output_dir, f"report{suffix}.html"),
            report.create_heading(self.decoder.output_mode, data, scores),
            examples=split.examples,
            outputs=outputs,
            decoder=self.decoder,
            tokenizer=self.tokenizer,
            max_seq_length=length,
        )

    def write_predictions(
        self, split: _Split, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predictions, and the file of --glue_submission."""
        outputs = decoding.concatenate(batches)
        labels = prediction_files.write(
            split, outputs, self.decoder, output_dir
        )
        if self.config.classifier.glue_submission:
            suffix = split.name.removeprefix("predict")
            name = self.config.task_name + suffix.replace("_", "-")
            glue.write_submission(output_dir, name, labels)
        return self._score(split, outputs)

    def _score(self, split: _Split, outputs: np.ndarray) -> dict[str, float]:
        labels = self.decoder.labels(outputs)
        score = self.reader.processor_of(split.name).score
        return metrics.score_known(split.examples, labels, self.decoder, score)


def find_columns(
    parsed: flags.Parsed[Config],
) -> tuple[flags.Parsed[Config], Table | None]:
    """Opens --data_file, and finds its columns that no flag names.

    Returns the flags with the columns, and the table, None without one.

    Raises:
        ValueError: a column is not found.
        OSError: the file cannot be read.
    """
    config = parsed.config
    if config.task_name != "csv" or not config.data.data_file:
        return parsed, None
    table = Table(
        config.data.data_file, classifier_flags.layout_of(config.table)
    )
    columns = classifier_flags.find_columns(config.table, parsed.given, table)
    config = config_values.replace(config, **columns)
    return dataclasses.replace(parsed, config=config), table


def create_reader(
    parsed: flags.Parsed[Config], start: Start[Config], table: Table | None
) -> reading.ClassificationReader:
    """Creates the reader that --task_name or --processor selects.

    It has read no set yet. `table` is --data_file, if it was opened.

    Raises:
        ValueError: a flag or a class of --processor is wrong.
        OSError: a file cannot be read.
    """
    config = start.config
    names_data = parsed.given & {"task_name", "data_file"}
    user_processor = processor_file.find_processor(
        config.classifier.processor,
        config.fine_tuning.data_dir,
        None if names_data else start.preset,
    )
    if user_processor:
        return reading.ClassificationReader({"": user_processor})
    table_processor = reading.create_table_processor(
        config.task_name,
        config.fine_tuning.data_dir,
        config.data,
        config.table,
        parsed.given,
        table,
    )
    if table_processor:
        return reading.ClassificationReader({"": table_processor})
    return reading.ClassificationReader(
        glue.create_glue_processors(
            config.task_name,
            config.fine_tuning.data_dir,
            config.classifier.xnli_language,
            config.table.layout(),
        )
    )


def create_task(
    start: Start[Config], reader: reading.ClassificationReader
) -> task.Task:
    """Creates the task, with what its sets tell of it.

    A train set may tell the labels, the weights of their classes, and whether
    the examples are pairs. The sets of an embedding tell whether the pairs have
    scores, and the first set tells the scale of all. The function reads no
    other set. The reader holds what it has read.

    Raises:
        ValueError: a flag or a row of the data is wrong.
        OSError: a file cannot be read.
    """
    config = start.config
    processor = reader.table_processor
    if isinstance(processor, pairs.PairProcessor):
        # In a test set, any score may be missing.
        splits = [split for split in config.purposes if split != "predict"]
        score_unit = None
        if splits:
            score_unit = pairs.find_score_unit(processor.read(splits[0]))
        return EmbeddingTask(
            start,
            processor,
            has_scores={x: processor.has_scores(x) for x in splits},
            score_unit=score_unit,
            temperature=config.classifier.contrastive_temperature,
        )
    if config.training.do_train:
        reader.find_num_texts()
    labels = reader.labels()
    class_weights = read_class_weights(config, reader, labels)
    return ClassifierTask(start, reader, labels, class_weights)


def read_class_weights(
    config: Config,
    reader: reading.ClassificationReader,
    labels: list[str] | None,
) -> dict[str, float]:
    """Counts the labels of the train set, if --class_weights is set.

    Returns {label: weight in the training loss}, {} for equal weights.

    Raises:
        ValueError: the task has no classes.
    """
    if not config.classifier.class_weights:
        return {}
    if reader.output_mode != "classification":
        raise ValueError(f"--class_weights is not for {reader.output_mode}")
    if not config.training.do_train:
        return {}
    return balance_classes(labels or (), reader.read_train_set())


def main(parsed: flags.Parsed[Config]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    parsed, table = find_columns(parsed)
    start = read_start(parsed)
    reader = create_reader(parsed, start, table)
    if reader.table_processor:
        start = with_table_split(start, reader.table_processor)
        start = suit(start, reader.table_processor, parsed.given)
    created = create_task(start, reader)
    # Import TensorFlow late, so that --help, wrong flags and wrong tables show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(created, start)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
