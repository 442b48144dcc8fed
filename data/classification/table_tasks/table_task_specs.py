"""Specifies the tasks of a user's own tables, which --task_name selects."""

import dataclasses
from typing import Literal, TypeAlias

from data.classification.table_tasks.pair_processors import (
    PAIR_COLUMNS,
    RANKING_COLUMNS,
    PairProcessor,
    RankingProcessor,
)
from data.classification.table_tasks.table_columns import (
    find_label_columns,
    layout_of,
    options_of_pairs,
)
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_processor import TableProcessor
from data.tables.data_file_options import DataFileOptions
from data.tables.tables import Table
from files.paths import StrPath

LossKind: TypeAlias = Literal["labels", "ranking", "similarity"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableTaskSpec:
    """Describes a task of a user's own tables, which --task_name selects.

    Attributes:
        processor_class: class that reads the tables.
        pair_columns: usual columns of the two texts and of the number. Without
            them, flags or the names in --data_file show the columns.
        loss_kind: what the loss compares: a text's output with its label, the
            outputs of a query's passages, or the vectors of two texts.
        may_be_cross_encoder: whether a regression of single texts may be
            exported for pairs too. A cross-encoder, which ranks passages, has a
            single output as well.
    """

    processor_class: type[TableProcessor]
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
        return self.processor_class(
            data_dir, data_file_options, options, label_columns, table
        )


# {value of --task_name: what it says of a task of a user's own tables}.
TABLE_TASK_SPECS = {
    "csv": TableTaskSpec(
        processor_class=TableProcessor, may_be_cross_encoder=True
    ),
    "embedding": TableTaskSpec(
        processor_class=PairProcessor,
        pair_columns=PAIR_COLUMNS,
        loss_kind="similarity",
    ),
    "ranking": TableTaskSpec(
        processor_class=RankingProcessor,
        pair_columns=RANKING_COLUMNS,
        loss_kind="ranking",
    ),
}
