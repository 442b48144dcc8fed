"""Opens the sets that the flags select, and loads their task.

run_classifier.py calls the functions in their order. Importing this module
loads no TensorFlow.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from absl import logging

from data.arrays import FloatArray
from data.classification import similar_pairs
from data.classification.class_weights import compute_class_weights
from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.glue.glue_processor import create_glue_processor
from data.classification.user_class import load_user_class_processor
from data.classification.user_tables import table_columns
from data.classification.user_tables.table_processor import open_table_processor
from data.tables.tables import Table
from model_folders.labels import describe_labels
from model_folders.output_modes import CLASSIFICATION, REGRESSION
from model_folders.reading import settings_check
from options.parsed_command import ParsedCommand
from training.config.classifier_config import ClassifierConfig
from training.starting_point import StartingPoint
from training.task import FineTuningTask
from training.tasks.classifier import ClassifierTask
from training.tasks.embedding import EmbeddingTask


@contextlib.contextmanager
def open_data_file(config: ClassifierConfig) -> Iterator[Table | None]:
    """Yields the table --data_file, and closes its file at the end.

    The file may be a pipe, which can be opened only once. So `decide_columns`
    reads the header and the processor reads the rows of this same `Table`. It
    is None without --data_file, and for a task of pairs, whose columns have
    usual names.
    """
    definition = config.table_task_definition
    if definition is None or definition.pair_columns or not config.data_file:
        yield None
        return
    layout = config.columns.layout_for_columns()
    with Table(config.data_file, layout) as table:
        yield table


def decide_columns(
    parsed: ParsedCommand[ClassifierConfig], table: Table | None
) -> ParsedCommand[ClassifierConfig]:
    """Decides the columns that no flag names, by the header of --data_file.

    `table` is the one that `open_data_file` yields.

    Raises:
        ValueError: a column is not found, or the header is malformed.
        OSError: the file cannot be read.
    """
    chosen_columns = {
        name: str(getattr(parsed.config.columns, name))
        for name in table_columns.COLUMN_FLAGS
        if name in parsed.set_by_user
    }
    if table is None or table_columns.are_columns_numbered(chosen_columns):
        return parsed
    columns = table_columns.guess_unset_columns(
        chosen_columns, table.path, table.read_column_names()
    )
    return parsed.decide_if_open(columns, source=str(table.path))


def open_processor(
    starting_point: StartingPoint[ClassifierConfig], table: Table | None
) -> ClassificationProcessor:
    """Creates the processor that --task_name or --processor selects.

    It has read no set yet. `table` is the one that `open_data_file` yields.

    Raises:
        ValueError: a flag or a class of --processor is wrong.
        OSError: a file cannot be read.
    """
    config = starting_point.config
    names_data = starting_point.set_by_user & {"task_name", "data_file"}
    user_class_processor = load_user_class_processor(
        config.classifier.processor,
        config.fine_tuning.data_dir,
        None if names_data else starting_point.preset,
    )
    if user_class_processor:
        return user_class_processor
    if config.table_task_definition:
        return open_table_processor(
            config.table_task_definition,
            data_dir=config.fine_tuning.data_dir,
            data_file_options=config.data_file_options,
            options=config.columns,
            set_by_user=starting_point.set_by_user,
            table=table,
        )
    return create_glue_processor(
        config.required_task_name,
        config.fine_tuning.data_dir,
        xnli_language=config.classifier.xnli_language,
        layout=config.columns.layout(),
    )


def load_task(
    starting_point: StartingPoint[ClassifierConfig],
    processor: ClassificationProcessor,
) -> FineTuningTask[ClassifierConfig, InputExample, Any, FloatArray]:
    """Reads what the sets tell of the task, and creates the task.

    The train set may decide the labels, the weights of their classes, and
    whether the examples are pairs. Each set keeps the rows that were read, so
    that no file is read twice.

    The decoding contexts are Any, because the two tasks have different ones.
    """
    config = starting_point.config
    if processor.definition.learns_vectors:
        return _load_embedding_task(starting_point, processor)
    _check_class_weights(config, processor)
    num_texts = _decide_num_texts(starting_point, processor)
    labels = processor.sets.read_labels()
    class_weights = _decide_class_weights(config, processor, labels)
    return ClassifierTask(
        starting_point,
        processor,
        labels=labels,
        num_texts=num_texts,
        exported_num_texts=_choose_exported_num_texts(processor, num_texts),
        class_weights=class_weights,
    )


def _load_embedding_task(
    starting_point: StartingPoint[ClassifierConfig],
    processor: ClassificationProcessor,
) -> EmbeddingTask:
    """Reads whether the pairs of each set have scores, and creates the task.

    A command that reads no dev set evaluates as if it had scores. Without
    training, the loss is the one that suits the evaluated set. The first set
    decides the scale of all scores. The function warns if weights that are not
    trained need another pooling.
    """
    config = starting_point.config
    if starting_point.preset and not config.training.do_train:
        settings_check.warn_of_pooling(starting_point.preset)
    sets = {
        name: processor.sets.read(name)
        for name in config.set_names
        # In a test set, any score may be missing.
        if name != "test"
    }
    first_set = next(iter(sets.values()), None)
    max_score = similar_pairs.guess_max_score(first_set) if first_set else None
    are_scored = {
        name: similar_pairs.are_scored(pairs) for name, pairs in sets.items()
    }
    evaluates_scores = are_scored.get("dev", True)
    return EmbeddingTask(
        starting_point,
        processor,
        trains_scores=are_scored.get("train", evaluates_scores),
        evaluates_scores=evaluates_scores,
        max_score=max_score,
    )


def _decide_num_texts(
    starting_point: StartingPoint[ClassifierConfig],
    processor: ClassificationProcessor,
) -> int | None:
    """Returns how many texts an example has: 1, or 2 for a pair.

    Only the examples show how many texts a user's own class reads. A command
    that does not train repeats what the training recorded, or returns None.
    """
    if processor.num_texts is not None:
        return processor.num_texts
    if starting_point.config.training.do_train:
        train_set = processor.sets.read("train")
        return 2 if any(example.text_b for example in train_set) else 1
    return starting_point.training_settings.head.get("num_texts")


def _choose_exported_num_texts(
    processor: ClassificationProcessor, num_texts: int | None
) -> int | None:
    """Returns the `num_texts` that an export records.

    The table of a command that only exports may name one column of texts. Its
    model may still be a cross-encoder, which reads pairs and has one output as
    a regression has. Its export must not reject a second text.
    """
    is_regression = processor.output_mode == REGRESSION
    if is_regression and processor.definition.may_be_cross_encoder:
        return None
    return num_texts


def _check_class_weights(
    config: ClassifierConfig, processor: ClassificationProcessor
) -> None:
    """Checks, before any set is read, that the task may weight its classes."""
    if config.classifier.class_weights and (
        processor.output_mode != CLASSIFICATION
    ):
        raise ValueError(f"--class_weights is not for {processor.output_mode}")


def _decide_class_weights(
    config: ClassifierConfig,
    processor: ClassificationProcessor,
    labels: list[str] | None,
) -> dict[str, float]:
    """Computes and logs the weights of the classes, if --class_weights is set.

    Returns {label: weight in the training loss}, {} for equal weights
    or if the command does not train.
    """
    if not (config.classifier.class_weights and config.training.do_train):
        return {}
    weights = compute_class_weights(labels or (), processor.sets.read("train"))
    descriptions = [f"{name} {weight:.3f}" for name, weight in weights.items()]
    logging.info("Class weights: %s", describe_labels(descriptions))
    return weights
