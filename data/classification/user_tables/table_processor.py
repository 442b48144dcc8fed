"""Opens the processor of a task in a user's own tables, and reads its sets.

--task_name selects such a task, and --data_file implies it. table_examples.py
turns the rows of a table into examples.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from data.arrays import LabelArray
from data.classification import metrics, similar_pairs
from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)
from data.classification.classification_processor import (
    ClassificationProcessor,
    TaskDefinition,
)
from data.classification.user_tables import table_examples
from data.classification.user_tables.table_columns import (
    ColumnOptions,
    parse_label_columns,
)
from data.sets.data_file_options import DataFileOptions
from data.sets.example_reader import ExampleReader, SetFile
from data.sets.held_sets import FileSets
from data.sets.set_names import BASE_SETS, BaseSet, find_set_file
from data.sets.text_keys import key_of
from data.tables.prodigy_rows import read_accepted_rows
from data.tables.tables import Table, TableRow, read_table
from files.paths import StrPath
from model_folders.output_modes import MULTILABEL, REGRESSION, OutputMode

_ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")
# {set: names that its table may have in --data_dir}.
_FILES_OF_SET: Mapping[BaseSet, Sequence[str]] = {
    name: [f"{name}{ending}" for ending in _ENDINGS] for name in BASE_SETS
}


def _score_passages(
    examples: Sequence[InputExample],
    gold_labels: LabelArray,
    predictions: LabelArray,
) -> dict[str, float]:
    """Returns the metrics of passages, whose queries are the first texts."""
    queries = [example.text_a for example in examples]
    return metrics.score_ranking(queries, gold_labels, predictions)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableTaskDefinition(TaskDefinition):
    """Defines a task of a user's own tables, and the columns that it reads.

    Attributes:
        metrics: names of the metrics that score the task, the main metric
            first. By default, the output mode decides.
        pair_columns: usual columns of the two texts and of the number. If None,
            flags or the names in --data_file show the columns.
    """

    metrics: tuple[str, ...] = ()
    pair_columns: tuple[str, str, str] | None = None

    @property
    def is_split_by_first_text(self) -> bool:
        """Whether all rows with the same first text are in the same set.

        This keeps all passages of a query together. Otherwise both texts of a
        pair decide.
        """
        return self.learns_relevances

    @property
    def may_lack_scores(self) -> bool:
        """Whether a train set or a dev set may have no numbers at all.

        Vectors can be learned from pairs that belong together. If some rows of
        a set have numbers, the others are left out.
        """
        return self.learns_vectors

    @property
    def number_column(self) -> str | None:
        """The usual column of the number, None if a task has no usual one."""
        return self.pair_columns[-1] if self.pair_columns else None

    def may_lack_column(self, label_column: str) -> bool:
        """Returns whether a train set or a dev set may lack the label column.

        A column with another than the usual name must exist, because the user
        named it with --label_column.
        """
        return self.may_lack_scores and label_column == self.number_column


# {value of --task_name: its task of a user's own tables}.
DEFINITION_OF_TABLE_TASK = {
    # A cross-encoder, which ranks passages, has a single output as well.
    "csv": TableTaskDefinition(may_be_cross_encoder=True),
    "embedding": TableTaskDefinition(
        pair_columns=("text", "text_b", "score"),
        learns="vectors",
    ),
    "ranking": TableTaskDefinition(
        pair_columns=("query", "passage", "relevance"),
        metrics=metrics.RANKING_METRICS,
        score=_score_passages,
        learns="relevances",
    ),
}


def open_table_processor(
    definition: TableTaskDefinition,
    data_dir: StrPath | None,
    data_file_options: DataFileOptions,
    options: ColumnOptions,
    chosen_columns: Mapping[str, str],
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
        chosen_columns: {flag: its column} of the columns that the user chose.
        table: --data_file, whose header may have been read. None to open it.

    Raises:
        ValueError: a flag is wrong, or the table whose columns show what
            --label_column means is malformed.
        OSError: that table cannot be read.
    """
    if definition.pair_columns:
        options = options.with_pair_columns(
            chosen_columns, definition.pair_columns
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
    for set_name, file_names in _FILES_OF_SET.items():
        try:
            path = find_set_file(data_dir, set_name, file_names)
        except FileNotFoundError:
            continue
        with Table(path, options.layout_for_columns()) as table:
            return table.read_column_names()
    return []


class TableReader(ExampleReader[InputExample]):
    """Reads the tables of the sets of a task.

    Flags, or the tables themselves, name the columns and the labels. A label in
    the dev or test set must be a label of the task.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. In the other sets, rows without a label are
    left out. In multi-label classification, an empty cell is an empty list of
    labels, and only null is no label.

    Args:
        definition: how the task differs from others of tables.
        options: the columns, and the labels if flags name them.
        label_columns: columns that --label_column names, [] for none.
        data_file_table: --data_file, whose header may have been read, None with
            --data_dir.

    Attributes:
        output_mode: "classification", "multilabel" or "regression".
        text_columns: column of the text, or the two columns of a pair.

    Raises:
        ValueError: flags contradict each other.
    """

    file_names = _FILES_OF_SET

    def __init__(
        self,
        definition: TableTaskDefinition,
        options: ColumnOptions,
        label_columns: Sequence[str],
        data_file_table: Table | None,
    ) -> None:
        # Several columns contain 0 or 1, one for each label.
        is_one_hot = len(label_columns) > 1
        self.output_mode: OutputMode = (
            MULTILABEL if is_one_hot else options.output_mode
        )
        self.has_labels = self.output_mode != REGRESSION
        self.labels_of_flags = table_examples.choose_labels_of_flags(
            options.labels, self.output_mode, label_columns
        )
        self.text_columns = options.text_columns()
        self._definition = definition
        self._options = options
        self._label_columns = label_columns
        self._data_file_table = data_file_table

    @property
    def key_names(self) -> list[str]:
        """The columns of the texts that decide about the dev set, sorted."""
        if self._definition.is_split_by_first_text:
            return [self.text_columns[0]]
        return sorted(self.text_columns)

    def read_file(self, file: SetFile) -> list[InputExample]:
        """Reads the examples of a table, and logs which rows are left out.

        Raises:
            OSError: the table cannot be read.
            ValueError: a row is malformed, the table contains no example, or
                no column contains the labels of a train set.
        """
        table = self._data_file_table if file.is_data_file else None
        if table is None:
            table = Table(file.path, self._options.layout_for_columns())
        columns = table.read_column_names()
        parser = self._create_parser(file)
        examples = [*parser.parse_rows(self._read_rows(table, parser))]
        if self._may_lack_scores(file):
            examples, num_unscored = similar_pairs.drop_unscored(examples)
            parser.leave_out("a label", num_unscored)
        parser.log_counts()
        if not examples:
            raise ValueError(f"{file.path} contains no example")
        self._check_label_column(file, columns, examples)
        return examples

    def labels_of(self, example: InputExample) -> list[str]:
        """Returns the labels, [] in regression or without a label."""
        if self.output_mode == REGRESSION or example.label is None:
            return []
        return class_names_of(example.label)

    def compute_keys(self, examples: Sequence[InputExample]) -> list[str]:
        """Returns the key of each row's texts, or of its first text."""
        if self._definition.is_split_by_first_text:
            return [key_of([example.text_a]) for example in examples]
        return super().compute_keys(examples)

    def collect_labels(
        self,
        source: StrPath | None,
        train: Sequence[InputExample],
        dev: Sequence[InputExample],
    ) -> list[str]:
        """Returns the labels that the rows name, in alphabetical order.

        Logs how many rows each label has, and warns of strange labels.
        """
        train_source = f"the train set in {source}"
        labels = table_examples.list_labels(
            [*train, *dev], self.output_mode, train_source
        )
        if not dev:
            # A split has logged the numbers of both sets.
            table_examples.log_label_counts(labels, train)
        table_examples.warn_of_labels(train, dev)
        if self.output_mode == MULTILABEL:
            table_examples.warn_of_joined_labels(
                train_source, labels, self._options.label_separator
            )
        return labels

    def _create_parser(self, file: SetFile) -> table_examples.RowParser:
        """Creates what parses the rows of a file."""
        return table_examples.RowParser(
            file=file,
            text_columns=self.text_columns,
            label_columns=self._label_columns,
            label_flag=self._options.label_column,
            label_separator=self._options.label_separator,
            output_mode=self.output_mode,
            needs_label=self._needs_label(file),
        )

    def _needs_label(self, file: SetFile) -> bool:
        """Returns whether each row of a file needs a label."""
        if file.set_name == "test" or not self._label_columns:
            return False
        column = self._options.label_column
        return not self._definition.may_lack_column(column)

    def _read_rows(
        self, table: Table, parser: table_examples.RowParser
    ) -> Iterator[TableRow]:
        """Yields the rows of a table, without those that users rejected.

        A row is read only when its example is created, because all rows of a
        large table together take much memory.
        """
        return read_accepted_rows(
            table.path,
            read_table(
                table,
                self.text_columns,
                self._label_columns if parser.needs_label else [],
                fills_later_rows=True,
            ),
            columns_of_flags=[*self.text_columns, *self._label_columns],
        )

    def _may_lack_scores(self, file: SetFile) -> bool:
        """Returns whether the pairs of a file may have no scores at all."""
        return self._definition.may_lack_scores and file.set_name != "test"

    def _check_label_column(
        self,
        file: SetFile,
        columns: Sequence[str],
        examples: Sequence[InputExample],
    ) -> None:
        """Checks that the label column contains the labels.

        Args:
            file: the table of the examples.
            columns: names of the table's columns.
            examples: the examples of the table, at least one.

        Raises:
            ValueError: another column seems to contain the labels or the
                scores.
        """
        label_column = self._options.label_column
        if self._may_lack_scores(file):
            other_columns = {*columns} - {*self.text_columns}
            similar_pairs.check_score_column(
                file.source, label_column, other_columns, examples
            )
        rows_name_labels = self.has_labels and not self.labels_of_flags
        if file.set_name == "train" and rows_name_labels:
            table_examples.check_label_column(file.path, label_column, examples)
