"""Reads a user's own classification or regression task from tables."""

from collections.abc import Collection, Iterable, Sequence

from data.classification import metrics
from data.classification.classification_examples import (
    InputExample,
    Label,
)
from data.classification.classification_options import TableOptions
from data.classification.classification_processor import (
    ClassificationProcessor,
)
from data.classification.label_values import class_names_of
from data.classification.labels.label_set import LabelSet, log_label_counts
from data.classification.table_sets.repeated_texts import RepeatedTexts
from data.classification.table_sets.table_columns import FILES_OF_SET, layout_of
from data.classification.table_sets.table_rows import (
    PlacedRow,
    RowCounts,
    is_respelled,
    read_placed_rows,
)
from data.processors.file_processor import FileProcessor
from data.processors.set_names import BaseSet
from data.tables.data_file_options import DataFileOptions
from data.tables.row_keys import is_blank
from data.tables.tables import Table, texts_of
from files.json_files import JsonObject
from files.paths import StrPath


class TableProcessor(
    FileProcessor[InputExample, TableOptions], ClassificationProcessor
):
    """Reads the sets of a user's own task from tables.

    Flags, or the tables themselves, name the columns and the labels.

    FILES_OF_SET names the files. A label in the dev or test set must be a label
    of the task (see `find_labels`). Unless --labels names the labels, the train
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
        super().__init__(data_dir, data_file_options, options)
        self._table = table
        self.output_mode = options.output_mode
        self._label_columns = label_columns
        if len(label_columns) > 1:
            self.output_mode = "multilabel"
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
        self._repeated_texts = RepeatedTexts()
        self._label_set = LabelSet(options, self.output_mode, label_columns)

    def find_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        If --labels does not name them, the first call reads the train set.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        if self.output_mode == "regression":
            return None
        return self._find_label_names()

    @property
    def _labels_of_flags(self) -> list[str] | None:
        return self._label_set.named_by_flags

    def _labels_of_sets(
        self, train: Sequence[InputExample], dev: Sequence[InputExample]
    ) -> list[str]:
        """Returns the labels that the rows name, and warns of strange ones."""
        where = f"the train set in {self._source}"
        labels = self._label_set.find_labels(where, [*train, *dev])
        if not self._data_file_options.data_file:
            # A split has logged the numbers of both sets.
            log_label_counts(labels, train)
        self._label_set.warn_of_labels(where, train, dev)
        return labels

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
        self, path: StrPath, set_name: BaseSet, labels: Sequence[str] | None
    ) -> list[InputExample]:
        """Reads a set from a table, for `read`, whose errors it raises.

        If the table does not contain a test example's label, the label is None.
        """
        table = self._table
        if table is None or table.path != path:
            table = Table(path, layout_of(self._options))
        columns = table.read_column_names()
        rows = read_placed_rows(
            table,
            self.text_columns,
            self._label_columns,
            may_lack_labels=self._may_lack_labels(set_name),
        )
        examples, counts = self._create_examples(rows, set_name, labels)
        counts.log(path)
        if set_name != "test":
            keys = self.keys_of(examples)
            self._repeated_texts.add(set_name, path, keys)
        if not examples:
            raise ValueError(f"{path} contains no example")
        self._check_set(path, set_name, columns, examples)
        return examples

    def _may_lack_labels(self, set_name: BaseSet) -> bool:
        """Returns whether a row without a label becomes an example of a set."""
        return set_name == "test"

    def _create_examples(
        self,
        rows: Iterable[PlacedRow],
        set_name: BaseSet,
        allowed_labels: Sequence[str] | None,
    ) -> tuple[list[InputExample], RowCounts]:
        """Returns the examples of a set, and counts of its other rows.

        `allowed_labels` are the labels that the set may contain. None = its
        rows name them.
        """
        examples: list[InputExample] = []
        counts = RowCounts()
        may_lack_label = not self._label_columns or self._may_lack_labels(
            set_name
        )
        keeps_row = self._keeps_rows(set_name)
        for row_number, where, row in rows:
            texts = texts_of(row, self.text_columns)
            if set_name != "test" and all(map(is_blank, texts)):
                counts.left_out["text"] += 1
                continue
            cells = [row.get(column) for column in self._label_columns]
            label = self._find_label(cells, where, allowed_labels)
            if label is None and not may_lack_label:
                counts.left_out["a label"] += 1
                continue
            if any(map(is_respelled, cells)):
                counts.num_respelled += 1
            guid = f"{set_name}-{len(examples) + 1}"
            if self._data_file_options.data_file:
                guid = f"row {row_number}"
            examples.append(
                _create_example(guid, texts, label, row if keeps_row else None)
            )
        return examples, counts

    def _find_label(
        self,
        cells: Sequence[object],
        where: str,
        allowed_labels: Sequence[str] | None,
    ) -> Label | None:
        """Returns the label in the label columns of a row, None without one."""
        if all(cell is None for cell in cells):
            return None
        where = f"{where}, column {self._options.label_column!r}"
        return self._label_set.label_of_cells(cells, where, allowed_labels)

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
        if set_name == "train":
            self._label_set.check_column(path, examples)


def _create_example(
    guid: str,
    texts: Sequence[str],
    label: Label | None,
    row: JsonObject | None,
) -> InputExample:
    text_a, *other_texts = texts
    return InputExample(
        guid=guid,
        text_a=text_a,
        text_b=other_texts[0] if other_texts else None,
        label=label,
        row=row,
    )
