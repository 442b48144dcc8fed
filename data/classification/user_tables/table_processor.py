"""Opens the processor of a task in a user's own tables.

--task_name selects such a task, and --data_file implies it.
"""

from collections.abc import Collection

from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_tables.table_columns import (
    ColumnOptions,
    parse_label_columns,
)
from data.classification.user_tables.table_reader import (
    FILES_OF_SET,
    TableReader,
)
from data.classification.user_tables.table_tasks import TableTaskDefinition
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from data.sets.set_names import find_set_file
from data.tables.tables import Table
from files.paths import StrPath
from model_folders.output_modes import REGRESSION


def open_table_processor(
    definition: TableTaskDefinition,
    data_dir: StrPath | None,
    data_file_options: DataFileOptions,
    options: ColumnOptions,
    set_by_user: Collection[str],
    table: Table | None = None,
) -> ClassificationProcessor:
    """Creates the processor of a task, which has read none of its sets yet.

    If --label_column contains a comma, the function reads the header of a
    table, whose columns show what the flag means.

    Args:
        definition: how the task differs from others of tables.
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        options: the columns, and the labels if flags name them.
        set_by_user: names of the flags that the user set.
        table: --data_file, whose header may have been read. None to open it.

    Raises:
        ValueError: a flag is wrong, or the table whose columns show what
            --label_column means is malformed.
        OSError: that table cannot be read.
    """
    if definition.pair_columns:
        options = options.with_pair_columns(
            set_by_user, definition.pair_columns
        )
    if table is None and data_file_options.data_file:
        table = Table(data_file_options.data_file, options.layout_for_columns())
    label_columns = _read_label_columns(options, data_dir, table)
    reader = TableReader(
        definition, options, label_columns, data_file_table=table
    )
    return ClassificationProcessor(
        FileSets(
            reader, data_dir, data_file_options, warns_of_repetitions=True
        ),
        definition,
        output_mode=reader.output_mode,
        num_texts=len(reader.text_columns),
    )


def _read_label_columns(
    options: ColumnOptions, data_dir: StrPath | None, table: Table | None
) -> list[str]:
    """Returns the columns that --label_column names, [] without one.

    A value with a comma may be the name of one column or of several. The
    columns of the first table that exists show which.

    `table` is --data_file, None with --data_dir.
    """
    value = options.label_column
    if options.output_mode == REGRESSION or "," not in value:
        return [value] if value else []
    columns: list[str] = []
    if table is not None:
        columns = table.read_column_names()
    elif data_dir is not None:
        columns = _read_columns_of_first_set(options, data_dir)
    return parse_label_columns(value, columns)


def _read_columns_of_first_set(
    options: ColumnOptions, data_dir: StrPath
) -> list[str]:
    """Returns the columns of the first set in a folder, [] without a set."""
    for set_name, file_names in FILES_OF_SET.items():
        try:
            path = find_set_file(data_dir, set_name, file_names)
        except FileNotFoundError:
            continue
        with Table(path, options.layout_for_columns()) as table:
            return table.read_column_names()
    return []
