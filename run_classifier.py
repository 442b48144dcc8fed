r"""Fine-tunes BERT to classify texts or pairs of texts, and predicts labels.

    python run_classifier.py --data_file=TABLE --init_checkpoint=MODEL \
        --output_dir=DIR

The table is CSV, TSV, JSON lines or Parquet. The other tasks are GLUE and XNLI
(--task_name=mrpc --data_dir=glue/MRPC --do_train --do_eval). Training resumes
from the newest checkpoint in --output_dir.
"""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Self

from command_line import cli, config_values, flags
from command_line.flags import group
from data.classification import glue, pairs, processor_file, table_columns
from data.classification.classification_options import (
    ClassifierOptions,
    TableOptions,
)
from data.classification.classification_reader import (
    TABLE_TASKS,
    TASK_NAMES,
    ClassificationReader,
    TableTask,
)
from data.classification.label_set import balance_classes
from data.tables.tables import Table
from model_folders import kinds
from training import task
from training.fine_tuning_config import DataFileConfig
from training.sets.table_start import adapt_to_table
from training.start import StartingPoint, read_start
from training.tasks.classifier import ClassifierTask
from training.tasks.embedding import EmbeddingTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(DataFileConfig):
    """Flags of the script: Google's, and flags that this project adds."""

    table: TableOptions = group(TableOptions)
    classifier: ClassifierOptions = group(ClassifierOptions)
    task_name: str | None = flags.head(
        None,
        "csv reads your own train, dev and test files (.csv, .tsv, .jsonl, "
        ".json, .xlsx or .parquet). embedding reads pairs of texts from such "
        "files, and ranking reads queries, passages and relevances. For a "
        "class of your own, set --processor.",
        choices=TASK_NAMES,
    )

    def prepare(self, given: frozenset[str]) -> Self:
        """Returns the flags, completed by what other flags imply.

        Raises:
            ValueError: two flags name the reader of the task.
        """
        prepared = super().prepare(given)
        if not self.classifier.processor:
            return prepared
        if self.data_file or self.task_name not in (None, "csv"):
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
    def required_task_name(self) -> str:
        """Value of --task_name. The flag must be set."""
        return config_values.required_value(self.task_name)

    @property
    def table_task(self) -> TableTask | None:
        """The task of a user's own tables, None for GLUE and XNLI."""
        return TABLE_TASKS.get(self.task_name or "")

    @property
    def is_embedding(self) -> bool:
        """Whether the model computes vectors of texts."""
        task = self.table_task
        return task is not None and task.loss_kind == "similarity"

    @property
    def head(self) -> str | None:
        """Name of the model class that --task_name selects."""
        return kinds.EMBEDDER if self.is_embedding else kinds.CLASSIFIER

    @property
    def required(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return (*super().required, "task_name")

    def describe_missing(
        self, flag: str, run_settings: Mapping[str, object]
    ) -> str:
        """Returns the flags to set where a required flag is not set."""
        if flag != "task_name":
            return super().describe_missing(flag, run_settings)
        name = run_settings.get(processor_file.ENTRY)
        if name is not None:
            return f"--processor=FILE.py:{name}"
        return "--data_file (or --task_name and --data_dir)"

    def check(self, given: frozenset[str]) -> None:
        """Raises a ValueError if flags contradict each other."""
        super().check(given)
        if self.is_embedding and (self.fine_tuning.bilstm or self.report):
            raise ValueError("--bilstm and --report are not for embeddings")
        if self.classifier.glue_submission:
            glue.submission_file(self.required_task_name)


def open_data_file(
    parsed: flags.Parsed[Config],
) -> tuple[flags.Parsed[Config], Table | None]:
    """Opens --data_file, and finds its columns that no flag names.

    Returns the flags with the columns, and the table, None without one.

    Raises:
        ValueError: a column is not found.
        OSError: the file cannot be read.
    """
    config = parsed.config
    table_task = config.table_task
    if table_task is None or table_task.pair_columns or not config.data_file:
        return parsed, None
    table = Table(config.data_file, table_columns.layout_of(config.table))
    columns = table_columns.find_unset_columns(
        config.table, parsed.given, table
    )
    config = config_values.replace(config, **columns)
    return dataclasses.replace(parsed, config=config), table


def create_reader(
    start: StartingPoint[Config], table: Table | None = None
) -> ClassificationReader:
    """Creates the reader that --task_name or --processor selects.

    It has read no set yet. `table` is --data_file, if it was opened.

    Raises:
        ValueError: a flag or a class of --processor is wrong.
        OSError: a file cannot be read.
    """
    config = start.config
    names_data = start.given & {"task_name", "data_file"}
    user_processor = processor_file.find_processor(
        config.classifier.processor,
        config.fine_tuning.data_dir,
        None if names_data else start.preset,
    )
    table_task = config.table_task
    if user_processor:
        return ClassificationReader({"": user_processor}, table_task)
    if table_task:
        table_processor = table_task.create_processor(
            config.fine_tuning.data_dir,
            config.data,
            config.table,
            start.given,
            table,
        )
        return ClassificationReader({"": table_processor}, table_task)
    return ClassificationReader(
        glue.create_glue_processors(
            config.required_task_name,
            config.fine_tuning.data_dir,
            config.classifier.xnli_language,
            config.table.layout(),
        )
    )


def create_task(
    start: StartingPoint[Config], reader: ClassificationReader
) -> task.AnyTask:
    """Creates the task. Its sets may tell the task's properties.

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
            has_scores={split: processor.has_scores(split) for split in splits},
            score_unit=score_unit,
            temperature=config.classifier.contrastive_temperature,
        )
    num_texts = reader.num_texts
    if num_texts is None and config.training.do_train:
        num_texts = reader.read_num_texts()
    labels = reader.labels()
    return ClassifierTask(
        start,
        config.required_task_name,
        config.classifier,
        reader,
        labels=labels,
        num_texts=num_texts,
        class_weights=read_class_weights(config, reader, labels),
    )


def read_class_weights(
    config: Config,
    reader: ClassificationReader,
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
    parsed, table = open_data_file(parsed)
    start = read_start(parsed)
    reader = create_reader(start, table)
    if reader.table_processor:
        start = adapt_to_table(start, reader.table_processor)
    classifier_task = create_task(start, reader)
    # Import TensorFlow late, so that --help, wrong flags and wrong tables show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(classifier_task)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
