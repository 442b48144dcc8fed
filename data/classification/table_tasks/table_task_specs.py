"""Specifies the tasks of a user's own tables, which --task_name selects."""

import dataclasses
from typing import Literal, TypeAlias

from data.classification.labels.task_labels import labels_of_flags
from data.classification.table_tasks.table_columns import (
    find_label_columns,
    layout_of,
    options_of_pairs,
    text_columns_of,
)
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_processor import TableProcessor
from data.classification.table_tasks.table_reader import TableReader
from data.sets.data_file_split import DataFileOptions
from data.sets.file_sets import FileSets
from data.tables.tables import Table
from files.paths import StrPath

LossKind: TypeAlias = Literal["labels", "ranking", "similarity"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableTaskSpec:
    """Describes a task of a user's own tables, which --task_name selects.

    Attributes:
        pair_columns: usual columns of the two texts and of the number. Without
            them, flags or the names in --data_file show the columns.
        loss_kind: what a row is, and what the loss therefore compares: a
            text's output with its label, the outputs of a query's passages, or
            the vectors of two texts.
        may_be_cross_encoder: whether a regression of single texts may be
            exported for pairs too. A cross-encoder, which ranks passages, has a
            single output as well.
    """

    pair_columns: tuple[str, str, str] | None = None
    loss_kind: LossKind = "labels"
    may_be_cross_encoder: bool = False

    def create_processor(
        self,
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        options: TableOptions,
        set_by_user: frozenset[str],
        table: Table | None = None,
    ) -> TableProcessor:
        """Creates the processor of the sets, none of which it has read yet.

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
            options = options_of_pairs(options, set_by_user, self.pair_columns)
        if table is None and data_file_options.data_file:
            table = Table(data_file_options.data_file, layout_of(options))
        label_columns = find_label_columns(options, data_dir, table)
        text_columns = text_columns_of(options)
        # Several columns contain 0 or 1, one for each label.
        is_one_hot = len(label_columns) > 1
        output_mode = "multilabel" if is_one_hot else options.output_mode
        labels = labels_of_flags(options.labels, output_mode, label_columns)
        if output_mode == "regression":
            # A regression has no labels, whatever --labels names.
            labels = None
        reader = TableReader(
            source=data_file_options.data_file or data_dir,
            options=options,
            output_mode=output_mode,
            text_columns=text_columns,
            label_columns=label_columns,
            are_labels_in_rows=labels is None and output_mode != "regression",
            data_file_table=table,
            has_similar_pairs=self.loss_kind == "similarity",
            has_queries=self.loss_kind == "ranking",
        )
        file_sets = FileSets(
            reader,
            data_dir,
            data_file_options,
            labels,
            has_repetition_warning=True,
        )
        return TableProcessor(reader, file_sets)


# {value of --task_name: what it says of a task of a user's own tables}.
TABLE_TASK_SPECS = {
    "csv": TableTaskSpec(may_be_cross_encoder=True),
    "embedding": TableTaskSpec(
        pair_columns=("text", "text_b", "score"),
        loss_kind="similarity",
    ),
    "ranking": TableTaskSpec(
        pair_columns=("query", "passage", "relevance"),
        loss_kind="ranking",
    ),
}
