"""Reads a user's own classification or regression task from tables."""

import collections
import dataclasses
import itertools
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from typing import NamedTuple

from absl import logging

from data.classification import metrics
from data.classification.classification_examples import (
    InputExample,
    Label,
    names_of,
)
from data.classification.classification_options import TableOptions
from data.classification.label_set import LabelSet, log_label_counts
from data.classification.processor import ClassificationProcessor
from data.classification.repeated_texts import RepeatedTexts
from data.classification.table_columns import SET_FILES, layout_of
from data.sets.set_reader import SetReader
from data.sets.split_names import SetName
from data.tables.data_file_options import DataFileOptions
from data.tables.prodigy import read_accepted_rows
from data.tables.row_keys import is_blank
from data.tables.tables import Table, read_table
from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.labels import normal_label


class _PlacedRow(NamedTuple):
    """A row of a table, and where it stands.

    Attributes:
        row_number: number of the row, as a spreadsheet counts.
        where: place in the file, for messages.
        row: {column: cell}.
    """

    row_number: int
    where: str
    row: JsonObject


@dataclasses.dataclass
class _RowCounts:
    """Numbers of rows that `_read_examples` left out or changed, for the log.

    Attributes:
        left_out: {what a row lacks: number of rows that are left out}.
        num_respelled: number of rows whose labels were brought to one spelling.
    """

    left_out: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    num_respelled: int = 0


class TableProcessor(
    SetReader[InputExample, TableOptions], ClassificationProcessor
):
    """Reads the sets of a user's own task from tables.

    SET_FILES names the files. A label in the dev or test set must be a label of
    the task (see `find_labels`). Unless --labels names the labels, this reader
    therefore reads the train set before another set that contains a label.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. In the other sets, rows without a label are
    left out. In multi-label classification, an empty cell is an empty list of
    labels, and only null is no label.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data: flags of --data_file.
        options: flags of the table.
        label_columns: columns that --label_column names, [] for none.
        table: --data_file, if it was opened to look at its columns.

    Raises:
        ValueError: the label column is a text column, or `options.labels`
            contains too few labels or repeats one.
    """

    text_columns: Sequence[str]
    test_set_has_labels = True
    file_names = SET_FILES
    # Metrics of a subclass, if they are not the metrics of `output_mode`.
    own_metrics: tuple[str, ...] = ()

    @property
    def may_lack_labels(self) -> bool:
        """Whether the train and dev sets may lack the label column, too."""
        return False

    def __init__(
        self,
        data_dir: StrPath | None,
        data: DataFileOptions,
        options: TableOptions,
        label_columns: Sequence[str],
        table: Table | None = None,
    ) -> None:
        super().__init__(data_dir, data, options)
        self._table = table
        self.output_mode = options.output_mode
        self._label_columns = label_columns
        if len(self._label_columns) > 1:
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
        self._label_set = LabelSet(
            options, self.output_mode, self._label_columns
        )
        # None until `find_labels` has read the train set, and in regression.
        self._labels: list[str] | None = None
        if self.output_mode != "regression":
            self._labels = self._label_set.named_by_flags

    def find_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        If --labels does not name them, the first call reads the train set.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        if self.output_mode == "regression":
            return None
        if self._labels is None:
            self._labels = self._read_labels()
        return self._labels

    def _read_labels(self) -> list[str]:
        """Reads the train set, and returns the labels that its rows name."""
        where = f"the train set in {self._source}"
        is_split = bool(self._data.data_file)
        train = self.read("train")
        dev = self.read("eval") if is_split else []
        labels = self._label_set.find_labels(where, [*train, *dev])
        if not is_split:
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
        return names_of(example.label)

    @property
    def key_names(self) -> list[str]:
        """The columns of the texts, sorted: they decide about the dev set."""
        return sorted(self.text_columns)

    def read_file(self, path: StrPath, set_name: SetName) -> list[InputExample]:
        """Reads the set `set_name` from a table.

        If the table does not contain a test example's label, the label is None.
        If a dev or test set contains a label, this calls `find_labels`, whose
        errors it raises.

        Raises:
            OSError: the file cannot be read.
            ValueError: a column is missing, a row or its label is malformed, or
                there is no example.
        """
        table = self._table
        if table is None or table.path != path:
            table = Table(path, layout_of(self._options))
        columns = table.columns()
        rows = self._read_rows(table, set_name)
        allowed_labels = self._label_set.named_by_flags
        if set_name != "train":
            first_rows = _take_to_first(rows, self._is_labeled)
            if any(map(self._is_labeled, first_rows)):
                allowed_labels = self.find_labels()
            rows = itertools.chain(first_rows, rows)
        examples, counts = self._read_examples(rows, set_name, allowed_labels)
        if set_name != "test":
            labeled = _labeled_of(examples)
            if len(labeled) < len(examples):
                counts.left_out["a label"] += len(examples) - len(labeled)
            examples = labeled
        _log_changes(path, counts)
        if set_name != "test":
            keys = self.keys_of(examples)
            self._repeated_texts.add(set_name, path, keys)
        if not examples:
            raise ValueError(f"{path} contains no example")
        self.check_set(path, set_name, columns, examples)
        return examples

    def check_set(
        self,
        path: StrPath,
        set_name: SetName,
        columns: Collection[str],
        examples: Sequence[InputExample],
    ) -> None:
        """Checks that the labels of a set suit the task.

        Args:
            path: path of the table.
            set_name: name of the set, "train", "dev" or "test".
            columns: columns of the table.
            examples: the examples of the set, at least one.

        Raises:
            ValueError: the label column of a train set contains no labels.
        """
        if set_name == "train":
            self._label_set.check_column(path, examples)

    def _read_examples(
        self,
        rows: Iterable[_PlacedRow],
        set_name: SetName,
        allowed_labels: Sequence[str] | None,
    ) -> tuple[list[InputExample], _RowCounts]:
        """Returns the examples of a set, and counts of its other rows.

        `allowed_labels` are the labels that the set may contain. None = its
        rows name them.
        """
        examples: list[InputExample] = []
        counts = _RowCounts()
        keeps_row = self.keeps_rows(set_name)
        for row_number, where, row in rows:
            texts = [row[column] for column in self.text_columns]
            if set_name != "test" and all(map(is_blank, texts)):
                counts.left_out["text"] += 1
                continue
            cells = [row.get(column) for column in self._label_columns]
            label = self._label_of_row(cells, where, allowed_labels)
            if label is None and cells and not self._may_be_unknown(set_name):
                counts.left_out["a label"] += 1
                continue
            if any(map(_is_respelled, cells)):
                counts.num_respelled += 1
            guid = f"{set_name}-{len(examples) + 1}"
            if self._data.data_file:
                guid = f"row {row_number}"
            text_a, *other_texts = texts
            example = InputExample(
                guid=guid,
                text_a=text_a,
                text_b=other_texts[0] if other_texts else None,
                label=label,
                row=row if keeps_row else None,
            )
            examples.append(example)
        return examples, counts

    def _read_rows(
        self, table: Table, set_name: SetName
    ) -> Iterator[_PlacedRow]:
        """Yields the rows of a set that an annotator accepted."""
        needed = [] if self._may_be_unknown(set_name) else self._label_columns
        rows = read_table(table, self.text_columns, needed, may_lack=True)
        # As in a spreadsheet, where the names of the columns are row 1.
        first_number = 2 if table.has_named_columns() else 1
        numbered_rows = (
            _PlacedRow(row_number, where, row)
            for row_number, (where, row) in enumerate(rows, first_number)
        )
        columns_of_flags = [*self.text_columns, *self._label_columns]
        yield from read_accepted_rows(
            table.path, numbered_rows, columns_of_flags
        )

    def _is_labeled(self, placed: _PlacedRow) -> bool:
        cells = map(placed.row.get, self._label_columns)
        return any(cell is not None for cell in cells)

    def _may_be_unknown(self, set_name: SetName) -> bool:
        """Returns whether the set may lack the label of an example."""
        return set_name == "test" or self.may_lack_labels

    def _label_of_row(
        self,
        cells: Sequence[object],
        where: str,
        allowed_labels: Sequence[str] | None,
    ) -> Label | None:
        """Converts the cells of a row's label columns to its label.

        Returns None if the label is unknown.
        """
        if all(cell is None for cell in cells):
            return None
        where = f"{where}, column {self._options.label_column!r}"
        return self._label_set.label_of_cells(cells, where, allowed_labels)


def _take_to_first(
    rows: Iterator[_PlacedRow], is_wanted: Callable[[_PlacedRow], bool]
) -> list[_PlacedRow]:
    """Takes rows up to the first that is wanted, which is the last one."""
    taken: list[_PlacedRow] = []
    for placed in rows:
        taken.append(placed)
        if is_wanted(placed):
            break
    return taken


def _labeled_of(examples: list[InputExample]) -> list[InputExample]:
    """Returns the examples with a label, or all if none has one."""
    labeled = [example for example in examples if example.label is not None]
    return labeled or examples


def _log_changes(path: StrPath, counts: _RowCounts) -> None:
    if counts.left_out:
        descriptions = [
            f"{num_rows} rows without {lack}"
            for lack, num_rows in counts.left_out.items()
        ]
        logging.warning(
            "%s: %s left out", path, " left out, ".join(descriptions)
        )
    if counts.num_respelled:
        logging.info(
            "%s: %d labels brought to one spelling of blanks and accents",
            path,
            counts.num_respelled,
        )


def _is_respelled(cell: object) -> bool:
    return isinstance(cell, str) and cell != normal_label(cell)
