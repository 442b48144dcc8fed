"""Reads the table of a set: its examples, and the labels of the task."""

from collections.abc import Iterator, Mapping, Sequence

from data.classification import similar_pairs
from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)
from data.classification.user_tables import table_labels
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_examples import RowParser
from data.classification.user_tables.table_tasks import TableTaskDefinition
from data.sets.example_reader import ExampleReader, SetFile
from data.sets.set_names import BASE_SETS, BaseSet
from data.sets.text_keys import key_of
from data.tables.prodigy_rows import read_accepted_rows
from data.tables.tables import Table, TableRow, read_table
from files.paths import StrPath
from model_folders.output_modes import MULTILABEL, REGRESSION, OutputMode

_ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")
# {set: names that its table may have in --data_dir}.
FILES_OF_SET: Mapping[BaseSet, Sequence[str]] = {
    name: [f"{name}{ending}" for ending in _ENDINGS] for name in BASE_SETS
}


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

    file_names = FILES_OF_SET

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
        self.labels_of_flags = table_labels.choose_labels_of_flags(
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
        parsed = parser.parse_rows(self._read_rows(table, parser))
        if self._may_lack_scores(file):
            parsed = parsed.without_unscored()
        parsed.log_counts(file.path)
        if not parsed.examples:
            raise ValueError(f"{file.path} contains no example")
        self._check_label_column(file, columns, parsed.examples)
        return parsed.examples

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
        """Returns the labels that the rows name, in alphabetical order."""
        return table_labels.list_labels(
            [*train, *dev], self.output_mode, _train_set_of(source)
        )

    def report_labels(
        self,
        source: StrPath | None,
        labels: Sequence[str],
        train: Sequence[InputExample],
        dev: Sequence[InputExample],
    ) -> None:
        """Logs how many rows each label has, and warns of strange labels."""
        if not dev:
            # A split has logged the numbers of both sets.
            table_labels.log_label_counts(labels, train)
        table_labels.warn_of_labels(train, dev)
        if self.output_mode == MULTILABEL:
            table_labels.warn_of_joined_labels(
                _train_set_of(source), labels, self._options.label_separator
            )

    def _create_parser(self, file: SetFile) -> RowParser:
        """Creates what parses the rows of a file."""
        return RowParser(
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

    def _read_rows(self, table: Table, parser: RowParser) -> Iterator[TableRow]:
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
            table_labels.check_label_column(file.path, label_column, examples)


def _train_set_of(source: StrPath | None) -> str:
    """Returns what messages call the train set of a folder or a file."""
    return f"the train set in {source}"
