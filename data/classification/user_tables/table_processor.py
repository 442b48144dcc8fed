"""The sets, the labels and the metrics of a task of a user's own tables.

table_tasks.py lists the tasks. table_sets.py reads their tables.
"""

import contextlib
from collections.abc import Sequence

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_tables.column_options import (
    ColumnOptions,
    label_columns_of,
)
from data.classification.user_tables.table_sets import (
    FILES_OF_SET,
    UserTableReader,
)
from data.classification.user_tables.table_tasks import TableTaskSpec
from data.classification.user_tables.task_labels import labels_of_flags
from data.sets.data_file_split import DataFileOptions
from data.sets.file_sets import FileSets
from data.sets.set_names import find_set_file
from data.tables.tables import Table
from files.paths import StrPath


class UserTableProcessor(ClassificationProcessor):
    """The task of a user's own tables, whose rows a `UserTableReader` reads.

    FILES_OF_SET names the files. A label in the dev or test set must be a label
    of the task (see `read_labels`). Unless --labels names the labels, the train
    set is therefore read before another set.

    Args:
        reader: reads the tables.
        file_sets: the sets, whose files `reader` reads.

    Attributes:
        file_sets: the sets of the user's tables, each read once.
    """

    def __init__(
        self, reader: UserTableReader, file_sets: FileSets[InputExample]
    ) -> None:
        super().__init__(file_sets)
        spec = reader.spec
        self.file_sets = file_sets
        self.output_mode = reader.output_mode
        self.text_columns = reader.text_columns
        self.metrics = (
            spec.metrics or metrics.METRICS_OF_MODE[reader.output_mode]
        )
        self.is_embedding = spec.is_embedding
        self.is_ranking = spec.is_ranking
        self.may_be_cross_encoder = spec.may_be_cross_encoder
        self._score_of_task = spec.score

    def read_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        If --labels does not name them, the first call reads the train set.
        """
        return self.file_sets.read_labels()

    def score(
        self,
        examples: Sequence[InputExample],
        gold_labels: LabelArray,
        predictions: LabelArray,
    ) -> dict[str, float]:
        """Computes the metrics of the task, as its `TableTaskSpec` says."""
        if self._score_of_task:
            return self._score_of_task(examples, gold_labels, predictions)
        return super().score(examples, gold_labels, predictions)


def open_table_processor(
    spec: TableTaskSpec,
    data_dir: StrPath | None,
    data_file_options: DataFileOptions,
    options: ColumnOptions,
    set_by_user: frozenset[str],
    table: Table | None = None,
) -> UserTableProcessor:
    """Creates the processor of a task, which has read none of its sets yet.

    If --label_column contains a comma, the function reads the first row of a
    table, whose columns show what the flag means.

    Args:
        spec: how the task differs from others of tables.
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        options: the columns, and the labels if flags name them.
        set_by_user: names of the flags that the user set.
        table: --data_file, if it was opened to look at its columns.

    Raises:
        ValueError: a flag is wrong, or the table whose columns show what
            --label_column means is malformed.
        OSError: that table cannot be read.
    """
    if spec.pair_columns:
        options = options.with_pair_columns(set_by_user, spec.pair_columns)
    if table is None and data_file_options.data_file:
        table = Table(data_file_options.data_file, options.layout_for_columns())
    label_columns = _find_label_columns(options, data_dir, table)
    # Several columns contain 0 or 1, one for each label.
    is_one_hot = len(label_columns) > 1
    output_mode = "multilabel" if is_one_hot else options.output_mode
    labels = labels_of_flags(options.labels, output_mode, label_columns)
    reader = UserTableReader(
        source=data_file_options.data_file or data_dir,
        options=options,
        output_mode=output_mode,
        text_columns=options.text_columns(),
        label_columns=label_columns,
        are_labels_in_rows=labels is None and output_mode != "regression",
        data_file_table=table,
        spec=spec,
    )
    file_sets = FileSets(
        reader,
        data_dir,
        data_file_options,
        labels,
        has_repetition_warning=True,
    )
    return UserTableProcessor(reader, file_sets)


def _find_label_columns(
    options: ColumnOptions, data_dir: StrPath | None, table: Table | None
) -> list[str]:
    """Returns the columns that --label_column names, [] without one.

    A value with a comma may be the name of one column or of several. The
    columns of the first table that exists show which.

    `table` is --data_file, None with --data_dir.
    """
    value = options.label_column
    if options.output_mode == "regression" or "," not in value:
        return [value] if value else []
    columns: list[str] = []
    if table is not None:
        columns = table.read_column_names()
    elif data_dir is not None:
        columns = _read_columns_of_first_set(options, data_dir)
    return label_columns_of(value, columns)


def _read_columns_of_first_set(
    options: ColumnOptions, data_dir: StrPath
) -> list[str]:
    """Returns the columns of the first set in a folder, [] without a set."""
    for set_name, file_names in FILES_OF_SET.items():
        try:
            path = find_set_file(data_dir, set_name, file_names)
        except FileNotFoundError:
            continue
        table = Table(path, options.layout_for_columns())
        with contextlib.closing(table):
            return table.read_column_names()
    return []
