"""The tasks of a user's own tables: their sets, labels and metrics.

user_table_reader.py reads their tables.
"""

import dataclasses
from collections.abc import Sequence

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import (
    ExampleKind,
    InputExample,
)
from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_tables.column_options import (
    ColumnOptions,
    label_columns_of,
)
from data.classification.user_tables.task_labels import labels_of_flags
from data.classification.user_tables.user_table_reader import (
    FILES_OF_SET,
    UserTableReader,
)
from data.sets.data_file_split import DataFileOptions
from data.sets.file_sets import FileSets
from data.sets.set_names import find_set_file
from data.tables.tables import Table
from files.paths import StrPath

_RANKING_METRICS = ("mrr_10", "ndcg_10")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableTaskSpec:
    """Describes a task of a user's own tables, which --task_name selects.

    Attributes:
        pair_columns: usual columns of the two texts and of the number. Without
            them, flags or the names in --data_file show the columns.
        example_kind: what a row is.
    """

    pair_columns: tuple[str, str, str] | None = None
    example_kind: ExampleKind = "labeled_text"

    def open_processor(
        self,
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        options: ColumnOptions,
        set_by_user: frozenset[str],
        table: Table | None = None,
    ) -> "UserTableProcessor":
        """Creates the processor of the sets, none of which it has read yet.

        If --label_column contains a comma, the function reads the first row of
        a table, whose columns show what the flag means.

        Args:
            data_dir: value of --data_dir, None with --data_file.
            data_file_options: flags of --data_file.
            options: flags of the table.
            set_by_user: names of the flags that the user set.
            table: --data_file, if it was opened to look at its columns.

        Raises:
            ValueError: a flag is wrong, or the table whose columns show what
                --label_column means is malformed.
            OSError: that table cannot be read.
        """
        if self.pair_columns:
            options = options.with_pair_columns(set_by_user, self.pair_columns)
        if table is None and data_file_options.data_file:
            table = Table(
                data_file_options.data_file, options.layout_for_columns()
            )
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
            example_kind=self.example_kind,
        )
        file_sets = FileSets(
            reader,
            data_dir,
            data_file_options,
            labels,
            has_repetition_warning=True,
        )
        return UserTableProcessor(reader, file_sets)


# {value of --task_name: what it says of a task of a user's own tables}.
SPEC_OF_TABLE_TASK = {
    "csv": TableTaskSpec(),
    "embedding": TableTaskSpec(
        pair_columns=("text", "text_b", "score"),
        example_kind="similar_texts",
    ),
    "ranking": TableTaskSpec(
        pair_columns=("query", "passage", "relevance"),
        example_kind="ranked_passage",
    ),
}


class UserTableProcessor(ClassificationProcessor):
    """The task of a user's own tables, whose rows a `UserTableReader` reads.

    FILES_OF_SET names the files. A label in the dev or test set must be a label
    of the task (see `read_labels`). Unless --labels names the labels, the train
    set is therefore read before another set.

    Args:
        reader: reads the tables.
        file_sets: the sets, whose files `reader` reads.

    Attributes:
        file_sets: the argument.
    """

    def __init__(
        self, reader: UserTableReader, file_sets: FileSets[InputExample]
    ) -> None:
        super().__init__(file_sets)
        self.file_sets = file_sets
        self.output_mode = reader.output_mode
        self.text_columns = reader.text_columns
        self.metrics = metrics.METRICS_OF_MODE[reader.output_mode]
        self.example_kind = reader.example_kind
        if self.example_kind == "ranked_passage":
            self.metrics = _RANKING_METRICS
        # A cross-encoder, which ranks passages, has a single output as well.
        self.may_be_cross_encoder = self.example_kind == "labeled_text"

    def read_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        If --labels does not name them, the first call reads the train set.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        return self.file_sets.read_labels()

    def score(
        self,
        examples: Sequence[InputExample],
        gold_labels: LabelArray,
        predictions: LabelArray,
    ) -> dict[str, float]:
        """Computes the task's metrics, of a ranking those of its queries."""
        if self.example_kind != "ranked_passage":
            return super().score(examples, gold_labels, predictions)
        queries = [example.text_a for example in examples]
        means = metrics.score_ranking(queries, gold_labels, predictions)
        return dict(zip(self.metrics, means, strict=True))


def _find_label_columns(
    options: ColumnOptions, data_dir: StrPath | None, table: Table | None
) -> list[str]:
    """Returns the columns that --label_column names, [] without one.

    A value with a comma may be the name of one column or of several. The
    columns of the first table that exists show which.

    Args:
        options: flags of the table.
        data_dir: value of --data_dir, None with --data_file.
        table: --data_file, None with --data_dir.

    Raises:
        ValueError: the first row of the table is malformed, or a set has
            several tables.
        OSError: the table cannot be read.
    """
    value = options.label_column
    if options.output_mode == "regression" or "," not in value:
        return [value] if value else []
    if table is None and data_dir is not None:
        table = _find_first_set(options, data_dir)
    return label_columns_of(value, table.read_column_names() if table else ())


def _find_first_set(options: ColumnOptions, data_dir: StrPath) -> Table | None:
    """Returns the table of the first set in a folder, None without one."""
    for set_name, file_names in FILES_OF_SET.items():
        try:
            path = find_set_file(data_dir, set_name, file_names)
        except FileNotFoundError:
            continue
        return Table(path, options.layout_for_columns())
    return None
