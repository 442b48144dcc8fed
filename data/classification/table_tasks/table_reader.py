"""Reads a user's own classification or regression task from tables."""

from collections.abc import Collection, Iterable, Sequence

from data.classification import metrics
from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)
from data.classification.classification_processor import (
    ClassificationProcessor,
)
from data.classification.labels import label_checks
from data.classification.labels.task_labels import (
    labels_of_examples,
    labels_of_flags,
)
from data.classification.table_tasks.repeated_texts import RepeatedTexts
from data.classification.table_tasks.row_parsing import ParsedRow, RowParser
from data.classification.table_tasks.table_columns import (
    FILES_OF_SET,
    layout_of,
)
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_rows import (
    RowCounts,
    read_placed_rows,
)
from data.processors.file_processor import FileProcessor
from data.processors.set_names import BaseSet
from data.tables.data_file_options import DataFileOptions
from data.tables.tables import Table
from files.paths import StrPath


class TableProcessor(
    FileProcessor[InputExample, TableOptions], ClassificationProcessor
):
    """Reads the sets of a user's own task from tables.

    Flags, or the tables themselves, name the columns and the labels.

    FILES_OF_SET names the files. A label in the dev or test set must be a label
    of the task (see `read_labels`). Unless --labels names the labels, the train
    set is therefore read before another set.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. In the other sets, rows without a label are
    left out. In multi-label classification, an empty cell is an empty list of
    labels, and only null is no label.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        options: flags of the table.
        label_columns: columns that --label_column names, [] for none.
        table: --data_file, if it was opened to look at its columns.

    Raises:
        ValueError: the label column is a text column, or `options.labels`
            contains too few labels or repeats one.
    """

    text_columns: Sequence[str]
    test_set_has_labels = True
    file_names = FILES_OF_SET
    # Metrics of a subclass, if they are not the metrics of `output_mode`.
    own_metrics: tuple[str, ...] = ()

    def __init__(
        self,
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        options: TableOptions,
        label_columns: Sequence[str],
        table: Table | None = None,
    ) -> None:
        is_one_hot = len(label_columns) > 1
        self.output_mode = "multilabel" if is_one_hot else options.output_mode
        self.metrics = (
            self.own_metrics or metrics.METRICS_OF_MODE[self.output_mode]
        )
        texts = [options.text_column, options.text_b_column]
        self.text_columns = [*filter(None, texts)]
        if options.label_column in self.text_columns:
            raise ValueError(
                f"--label_column={options.label_column} must not be the same "
                "column as --text_column or --text_b_column"
            )
        super().__init__(
            data_dir,
            data_file_options,
            options,
            labels_of_flags(options.labels, self.output_mode, label_columns),
        )
        self._label_columns = label_columns
        self._table = table
        self._repeated_texts = RepeatedTexts()

    def read_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        If --labels does not name them, the first call reads the train set.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        if self.output_mode == "regression":
            return None
        return self._labels_of_flags or self._read_labels_of_rows()

    def _collect_labels(
        self, train: Sequence[InputExample], dev: Sequence[InputExample]
    ) -> list[str]:
        """Returns the labels that the rows name, in alphabetical order."""
        return labels_of_examples(
            [*train, *dev],
            self.output_mode,
            f"the train set in {self._source}",
        )

    def _log_labels(
        self,
        labels: Sequence[str],
        train: Sequence[InputExample],
        dev: Sequence[InputExample],
    ) -> None:
        """Logs how many rows each label has, and warns of strange labels."""
        if not self._data_file_options.data_file:
            # A split has logged the numbers of both sets.
            label_checks.log_label_counts(labels, train)
        label_checks.warn_of_labels(train, dev)
        if self.output_mode == "multilabel":
            label_checks.warn_of_joined_labels(
                f"the train set in {self._source}",
                labels,
                self._options.label_separator,
            )

    def texts_of(self, example: InputExample) -> list[str]:
        """Returns the text, or the two texts of a pair."""
        return [example.text_a, *filter(None, [example.text_b])]

    def labels_of(self, example: InputExample) -> list[str]:
        """Returns the labels, [] in regression or without a label."""
        if self.output_mode == "regression" or example.label is None:
            return []
        return class_names_of(example.label)

    @property
    def key_names(self) -> list[str]:
        """The columns of the texts, sorted: they decide about the dev set."""
        return sorted(self.text_columns)

    def _read_file(
        self,
        path: StrPath,
        set_name: BaseSet,
        labels: Sequence[str] | None,
        *,
        keeps_rows: bool,
    ) -> list[InputExample]:
        """Reads a set from a table, for `read`, whose errors it raises.

        If the table does not contain a test example's label, the label is None.
        """
        table = self._open_table(path)
        columns = table.read_column_names()
        examples, counts = self._read_examples(
            table, set_name, labels, keeps_rows=keeps_rows
        )
        counts.log(path)
        self._warn_of_repeated_texts(path, set_name, examples)
        if not examples:
            raise ValueError(f"{path} contains no example")
        self._check_set(path, set_name, columns, examples)
        return examples

    def _read_examples(
        self,
        table: Table,
        set_name: BaseSet,
        labels: Sequence[str] | None,
        *,
        keeps_rows: bool,
    ) -> tuple[list[InputExample], RowCounts]:
        """Returns the examples of a table, and counts of its other rows.

        The arguments and the errors are those of `_read_file`.
        """
        rows = read_placed_rows(
            table,
            self.text_columns,
            self._label_columns,
            may_lack_labels=self._may_lack_labels(set_name),
        )
        # This reads and parses a row only when its example is created, because
        # all rows of a large table together take much memory.
        parsed_rows = map(self._create_row_parser(set_name, labels).parse, rows)
        return self._create_examples(
            parsed_rows, set_name, keeps_rows=keeps_rows
        )

    def _warn_of_repeated_texts(
        self, path: StrPath, set_name: BaseSet, examples: Sequence[InputExample]
    ) -> None:
        """Warns of texts in the train set and the dev set, if both were read.

        The function remembers the texts of a set until the other set is read.
        """
        if set_name != "test":
            self._repeated_texts.add(set_name, path, self.keys_of(examples))
            self._repeated_texts.warn()

    def _open_table(self, path: StrPath) -> Table:
        """Opens a table, unless the caller of the constructor opened it."""
        if self._table and self._table.path == path:
            return self._table
        return Table(path, layout_of(self._options))

    def _may_lack_labels(self, set_name: BaseSet) -> bool:
        """Returns whether a row without a label becomes an example of a set."""
        return set_name == "test"

    def _create_row_parser(
        self, set_name: BaseSet, labels: Sequence[str] | None
    ) -> RowParser:
        """Creates the parser for the rows of a set.

        `labels` are the labels that the rows may have, None = any.
        """
        return RowParser(
            text_columns=self.text_columns,
            label_columns=self._label_columns,
            label_flag=self._options.label_column,
            label_separator=self._options.label_separator,
            output_mode=self.output_mode,
            allowed_labels=labels,
            may_lack_text=set_name == "test",
            may_lack_label=(
                not self._label_columns or self._may_lack_labels(set_name)
            ),
        )

    def _create_examples(
        self,
        parsed_rows: Iterable[ParsedRow],
        set_name: BaseSet,
        *,
        keeps_rows: bool,
    ) -> tuple[list[InputExample], RowCounts]:
        """Returns the examples of a set, and counts of its other rows."""
        examples: list[InputExample] = []
        counts = RowCounts()
        for parsed_row in parsed_rows:
            if parsed_row.lacks:
                counts.left_out[parsed_row.lacks] += 1
                continue
            counts.num_respelled += parsed_row.is_respelled
            row_number, _, row = parsed_row.placed_row
            guid = f"{set_name}-{len(examples) + 1}"
            if self._data_file_options.data_file:
                guid = f"row {row_number}"
            text_a, *other_texts = parsed_row.texts
            examples.append(
                InputExample(
                    guid=guid,
                    text_a=text_a,
                    text_b=other_texts[0] if other_texts else None,
                    label=parsed_row.label,
                    row=row if keeps_rows else None,
                )
            )
        return examples, counts

    def _check_set(
        self,
        path: StrPath,
        set_name: BaseSet,
        columns: Collection[str],
        examples: Sequence[InputExample],
    ) -> None:
        """Checks that the labels of a set suit the task.

        Args:
            path: the table of the set, for the message.
            set_name: the set that it contains.
            columns: names of the table's columns.
            examples: the examples of the set, at least one.

        Raises:
            ValueError: the label column of a train set contains no labels.
        """
        rows_name_labels = (
            self._labels_of_flags is None and self.output_mode != "regression"
        )
        if set_name == "train" and rows_name_labels:
            label_checks.check_label_column(
                path, self._options.label_column, examples
            )
