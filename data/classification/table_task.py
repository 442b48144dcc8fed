"""Reads a user's own classification or regression task from tables."""

import collections
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from absl import logging

from data.classification import metrics
from data.classification.classifier_flags import (
    TableOptions,
    label_columns_of,
    layout_of,
)
from data.classification.features import InputExample, Label, names_of
from data.classification.label_set import LabelSet
from data.classification.processor import ClassificationProcessor
from data.io.text_files import find_set_file
from data.tables.dev_split import DataFileOptions, SetReader
from data.tables.row_keys import is_blank, split_fraction_of
from data.tables.tables import Table, accepted_rows, read_table
from files.paths import StrPath
from modeling.folders.model_entries import OutputMode
from modeling.labels import normal_label

EXTENSIONS = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")


class TableProcessor(
    SetReader[InputExample, TableOptions], ClassificationProcessor
):
    """Reads the sets of a user's own task from tables.

    The files are named `train`, `dev` and `test`, with one of the EXTENSIONS.
    The train set is read before the others, unless --labels names the labels.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. In the other sets, rows without a label are
    left out. In multi-label classification, an empty cell is an empty list of
    labels, and only null is no label.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data: flags of --data_file.
        options: flags of the table.
        table: --data_file, if it was opened to look at its columns.

    Raises:
        ValueError: the label column is a text column, or `options.labels`
            contains too few labels or repeats one.
    """

    text_columns: Sequence[str]
    test_set_has_labels = True
    file_names: ClassVar[Mapping[str, Sequence[str]]] = {
        name: [f"{name}{ending}" for ending in EXTENSIONS]
        for name in ("train", "dev", "test")
    }
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
        table: Table | None = None,
    ) -> None:
        super().__init__(data_dir, data, options)
        self._table = table
        # The flag has no other choices.
        self.output_mode = cast("OutputMode", options.output_mode)
        self._label_columns = [*filter(None, [options.label_column])]
        if self.output_mode != "regression" and "," in options.label_column:
            self._label_columns = label_columns_of(
                options.label_column, self._first_columns()
            )
        if len(self._label_columns) > 1:
            self.output_mode = "multilabel"
        self.metrics = self.own_metrics or metrics.OF_MODE[self.output_mode]
        texts = [options.text_column, options.text_b_column]
        self.text_columns = [*filter(None, texts)]
        if options.label_column in self.text_columns:
            raise ValueError(
                f"--label_column={options.label_column} must not be the same "
                "column as --text_column or --text_b_column"
            )
        self._train_keys: set[float] = set()
        # The columns of the table that was read last.
        self._columns: list[str] = []
        self._label_set = LabelSet(
            options, self.output_mode, self._label_columns
        )

    def _first_columns(self) -> list[str]:
        # Returns the columns of the first set that exists, [] without a set.
        if self._table is not None:
            return self._table.columns()
        for name, file_names in self.file_names.items():
            with contextlib.suppress(OSError, ValueError):
                path = self._data.data_file
                path = path or find_set_file(self._source, name, file_names)
                return Table(path, layout_of(self._options)).columns()
        return []

    def labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        If --labels does not name them, the first call reads the train set.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        if self.output_mode == "regression":
            return None
        self._infer_labels()
        return self._label_set.names

    def _infer_labels(self) -> None:
        # Reads the train set, unless the labels are known, or in regression.
        is_known = self._label_set.names is not None
        if is_known or self.output_mode == "regression":
            return
        is_split = bool(self._data.data_file)
        self._label_set.infer(
            f"the train set in {self._source}",
            self.read("train"),
            dev=self.read("eval") if is_split else (),
            # The split has logged the numbers of both sets.
            log_counts=not is_split,
        )

    def texts_of(self, example: InputExample) -> list[str]:
        """Returns the text, or the two texts of a pair."""
        return [example.text_a, *filter(None, [example.text_b])]

    def labels_of(self, example: InputExample) -> list[str]:
        """Returns the labels, [] in regression."""
        if self.output_mode == "regression" or example.label is None:
            return []
        return names_of(example.label)

    @property
    def key_names(self) -> list[str]:
        """The columns of the texts."""
        return sorted(self.text_columns)

    def read_file(self, path: StrPath, name: str) -> list[InputExample]:
        """Reads the set `name` from a table.

        If the table does not contain a test example's label, the label is None.

        Raises:
            OSError: the file cannot be read.
            ValueError: a column is missing, a row or its label is malformed, or
                there is no example.
        """
        table = self._table
        if table is None or table.path != path:
            table = Table(path, layout_of(self._options))
        self._columns = table.columns()
        has_labels = {*self._label_columns} <= {*self._columns}
        if name == "dev" or (name == "test" and has_labels):
            self._infer_labels()
        examples: list[InputExample] = []
        left_out: collections.Counter[str] = collections.Counter()
        num_changed = 0
        for row_number, where, row in self._read_rows(table, name):
            texts = [row[column] for column in self.text_columns]
            if name != "test" and all(map(is_blank, texts)):
                left_out["text"] += 1
                continue
            cells = [row.get(column) for column in self._label_columns]
            label = self._find_label(cells, where)
            if label is None and cells and not self._may_be_unknown(name):
                left_out["a label"] += 1
                continue
            num_changed += any(map(_is_changed, cells))
            guid = f"{name}-{len(examples) + 1}"
            if self._data.data_file:
                guid = f"row {row_number}"
            text_a, *others = texts
            keeps_row = name != "train" or self._data.data_file
            examples.append(
                InputExample(
                    guid=guid,
                    text_a=text_a,
                    text_b=others[0] if others else None,
                    label=label,
                    row=row if keeps_row else None,
                )
            )
        examples = self._with_labels(name, examples, left_out)
        _log_changes(path, left_out, num_changed)
        self._warn_of_repeats(path, name, examples)
        if not examples:
            raise ValueError(f"{path} contains no example")
        if name == "train":
            self._label_set.check_column(path, examples)
        return examples

    def _with_labels(
        self,
        name: str,
        examples: list[InputExample],
        left_out: collections.Counter[str],
    ) -> list[InputExample]:
        # If the labels may be missing in all rows, but some rows have one,
        # returns these rows, and counts the others.
        labeled = [each for each in examples if each.label is not None]
        if name == "test" or not labeled or len(labeled) == len(examples):
            return examples
        left_out["a label"] += len(examples) - len(labeled)
        return labeled

    def _read_rows(
        self, table: Table, name: str
    ) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yields (number of the row, place in the file, row)."""
        needed = [] if self._may_be_unknown(name) else self._label_columns
        rows = read_table(table, self.text_columns, needed, may_lack=True)
        # As in a spreadsheet, where the names of the columns are row 1.
        first = 2 if table.names_columns else 1
        numbered = (
            (number, where, row)
            for number, (where, row) in enumerate(rows, first)
        )
        named = [*self.text_columns, *self._label_columns]
        yield from accepted_rows(table.path, numbered, named)

    def _may_be_unknown(self, name: str) -> bool:
        """Returns whether the set may lack the label of an example."""
        return name == "test" or self.may_lack_labels

    def _find_label(self, cells: Sequence[object], where: str) -> Label | None:
        # Converts the cells of a row's label columns to its label, or to None
        # if the label is unknown.
        where = f"{where}, column {self._options.label_column!r}"
        label = self._label_set.read(cells, where) if cells else None
        if label is not None:
            self._label_set.check_known(label, where)
        return label

    def _warn_of_repeats(
        self, path: StrPath, name: str, examples: list[InputExample]
    ) -> None:
        """Warns of texts of the dev set that are in the train set too.

        Numbers take less memory than texts.
        """
        keys = {split_fraction_of(key) for key in self.keys_of(examples)}
        if name == "train":
            self._train_keys = keys
        elif name == "dev" and (both := len(keys & self._train_keys)):
            logging.warning("%s: %d texts are in the train set too", path, both)


def _log_changes(
    path: StrPath, left_out: Mapping[str, int], num_changed: int
) -> None:
    """Logs what became of rows.

    `left_out` is {what a row lacks: number of rows that are left out}.
    """
    if left_out:
        counted = [f"{n} rows without {x}" for x, n in left_out.items()]
        logging.warning("%s: %s left out", path, " left out, ".join(counted))
    if num_changed:
        logging.info(
            "%s: %d labels brought to one spelling of blanks and accents",
            path,
            num_changed,
        )


def _is_changed(cell: object) -> bool:
    return isinstance(cell, str) and cell != normal_label(cell)
