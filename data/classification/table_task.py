"""Reads a user's own classification or regression task from tables."""

import collections
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from absl import logging

from data.classification import metrics
from data.classification.classifier_flags import (
    LABEL_NAMES,
    TableOptions,
    layout_of,
)
from data.classification.decoding import Label
from data.classification.features import (
    DataProcessor,
    InputExample,
    regression_label,
)
from data.io.dev_split import DataFileOptions, SetReader
from data.io.row_keys import place_of
from data.io.tables import Table, form_of, read_table
from files.json_files import parse_json
from files.paths import StrPath
from modeling.labels import check_labels, first_labels, is_label

# Matches a list of strings in the notation of Python or JSON.
_LIST = re.compile(r"""\[\s*(["'].*["']\s*)?\]""", re.DOTALL)
# A label with fewer rows is hardly learned.
_FEW = 5
# More labels than this, each of fewer than three rows on average, are none.
_MOST = 10
# {cell in a column for one label: whether the text has this label}.
_ONE_HOT = {"0": False, "1": True, "false": False, "true": True}
EXTENSIONS = (".csv", ".tsv", ".jsonl", ".parquet")


class TableProcessor(SetReader[InputExample, TableOptions], DataProcessor):
    """Reads the sets of a user's own task from tables.

    The files are named `train`, `dev` and `test`, with one of the EXTENSIONS.
    `columns` are the columns of the last row that was read.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. But in multi-label classification, an empty
    cell is an empty list of labels, and only a JSON null becomes None.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data: flags of --data_file.
        options: flags of the table.
        table: --data_file, if it was opened to look at its columns.

    Raises:
        ValueError: the label column is a text column, or `options.labels`
            contains too few labels or repeats one.
    """

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
        self.output_mode = options.output_mode
        self._label_columns = [*filter(None, [options.label_column])]
        labels = options.labels
        if self.output_mode != "regression" and "," in options.label_column:
            self.output_mode = "multilabel"
            self._label_columns = options.label_column.split(",")
            labels = labels or self._label_columns
        self.metrics = self.own_metrics or metrics.OF_MODE[self.output_mode]
        super().__init__(data_dir, data, options)
        self._table = table
        texts = [options.text_column, options.text_b_column]
        self.text_columns = [*filter(None, texts)]
        if options.label_column in self.text_columns:
            raise ValueError(
                f"--label_column={options.label_column} must not be the same "
                "column as --text_column or --text_b_column"
            )
        self._train_keys: set[float] = set()
        self._labels: list[str] | None = None
        if labels is not None:
            names = [_label_text(label, "--labels") for label in labels]
            self._labels = self._checked(names, "--labels")

    def labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        if self.output_mode == "regression":
            return None
        if self._labels is None:
            where = f"the train set in {self._source}"
            counts = _count_labels(self.look_at("train"))
            # --data_file was split, and its dev set may have more labels.
            names = counts | _count_labels(self._sets.get("dev", []))
            self._labels = self._checked(sorted(names), where)
            if not self._data.data_file:
                shown = [f"{name} {counts[name]}" for name in self._labels]
                logging.info("Labels of the train set: %s", first_labels(shown))
            # A warning of the split names labels without a row.
            if few := [name for name in names if 0 < counts[name] < _FEW]:
                logging.warning(
                    "%d labels have fewer than %d rows to train on: %s",
                    len(few),
                    _FEW,
                    first_labels(few),
                )
            if self.output_mode == "multilabel":
                self._warn_of_joined(where, self._labels)
        return self._labels

    def _warn_of_joined(self, where: str, labels: list[str]) -> None:
        # Warns if a label consists of other labels. Then another separator is
        # between the labels of a cell than --label_separator.
        marks = {*",;|\t"} - {self._options.label_separator}
        for label, mark in itertools.product(labels, sorted(marks)):
            parts = {part.strip() for part in label.split(mark)}
            if len(parts) > 1 and parts <= {*labels}:
                logging.warning(
                    "%s: the label %r consists of other labels. If %r "
                    "separates labels, set --label_separator",
                    where,
                    label,
                    mark,
                )
                return

    def _check_column(
        self, where: StrPath, examples: list[InputExample]
    ) -> None:
        # Raises a ValueError if a train set's column hardly contains labels.
        counts = _count_labels(examples)
        if len(counts) > max(_MOST, len(examples) / 3):
            some = ", ".join(map(repr, itertools.islice(counts, 3)))
            raise ValueError(
                f"{where}: --label_column={self._options.label_column} "
                f"contains {len(counts)} labels in {len(examples)} rows, such "
                f"as {some}. Choose the column of the labels, or set --labels, "
                "or for numbers --output_mode=regression"
            )
        for name in _count_labels(examples[:1]):
            if counts[name] == 1 and name.casefold() in LABEL_NAMES:
                raise ValueError(
                    f"{where}: line 1 contains the label {name!r}. If the "
                    "line names the columns, set --text_column and "
                    "--label_column to these names"
                )

    def _checked(self, labels: list[str], where: str) -> list[str]:
        fewest = {"classification": 2, "multilabel": 1, "regression": 0}
        check_labels(labels, where, fewest=fewest[self.output_mode])
        return labels

    def texts_of(self, example: InputExample) -> list[str]:
        """Returns the text, or the two texts of a pair."""
        return [example.text_a, *filter(None, [example.text_b])]

    def labels_of(self, example: InputExample) -> list[str]:
        """Returns the labels, [] in regression."""
        label: Any = example.label
        if self.output_mode == "regression":
            return []
        return label if isinstance(label, list) else [str(label)]

    @property
    def key_names(self) -> list[str]:
        """The columns of the texts."""
        return sorted(self.text_columns)

    def read_file(self, path: StrPath, name: str) -> list[InputExample]:
        """Reads the set `name` from a table.

        If the table does not contain a test example's label, the label is None.
        """
        examples: list[InputExample] = []
        num_empty = num_stripped = 0
        for row_number, where, row in self._read_rows(path, name):
            texts = [row[column] for column in self.text_columns]
            if name != "test" and not any(text.strip() for text in texts):
                num_empty += 1
                continue
            cells = [row.get(column) for column in self._label_columns]
            if any(str(cell) != str(cell).strip() for cell in cells):
                num_stripped += 1
            label = self._find_label(cells, where, name)
            self.columns = [*row]
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
        if num_empty:
            logging.warning(
                "%s: %d rows without text left out", path, num_empty
            )
        if num_stripped:
            logging.info(
                "%s: spaces around %d labels removed", path, num_stripped
            )
        self._warn_of_repeats(path, name, examples)
        if not examples:
            raise ValueError(f"{path} contains no example")
        is_named = self._labels is not None or self.output_mode == "regression"
        if name == "train" and not is_named:
            self._check_column(path, examples)
        return examples

    def _read_rows(
        self, path: StrPath, name: str
    ) -> Iterator[tuple[int, str, dict[str, Any]]]:
        # Yields (number of the row, place in the file, row).
        table = self._table
        if table is None or table.path != path:
            table = Table(path, layout_of(self._options))
        needed = [] if self._may_be_unknown(name) else self._label_columns
        rows = read_table(table, self.text_columns, needed)
        # As in a spreadsheet, where the names of the columns are row 1.
        has_names = table.layout.has_header and form_of(path) in ("csv", "tsv")
        for number, (where, row) in enumerate(rows, 2 if has_names else 1):
            yield number, where, row

    def _may_be_unknown(self, name: str) -> bool:
        # Returns whether the set may lack the label of an example.
        return name == "test" or self.may_lack_labels

    def _find_label(
        self, cells: list[Any], where: str, name: str
    ) -> Label | None:
        # Converts the cells of a row's label columns to its label, or to None
        # if the label is unknown.
        #
        # In multi-label classification an empty cell is an empty list of
        # labels, not an unknown label.
        has_lists = self.output_mode == "multilabel" and len(cells) == 1
        unknown = [None] if has_lists else [None, ""]
        is_unknown = any(cell in unknown for cell in cells)
        if not cells or (is_unknown and self._may_be_unknown(name)):
            return None
        place = f"{where}, column {self._options.label_column!r}"
        label = self._read_label(cells, place)
        # The labels of the train set become the task's labels.
        known = self._labels if name == "train" else self.labels()
        for each in label if isinstance(label, list) else [label]:
            if known is not None and each not in known:
                raise ValueError(
                    f"{place}: unknown label {each!r}; the labels are "
                    f"{first_labels(known)}. Correct the line, or add "
                    "the label to --labels or to the train set"
                )
        return label

    def _warn_of_repeats(
        self, path: StrPath, name: str, examples: list[InputExample]
    ) -> None:
        # Warns of texts of the dev set that are in the train set too.
        # Numbers take less memory than texts.
        keys = {place_of(key) for key in self.split_keys(examples)}
        if name == "train":
            self._train_keys = keys
        elif name == "dev" and (both := len(keys & self._train_keys)):
            logging.warning("%s: %d texts are in the train set too", path, both)

    def _read_label(self, cells: list, place: str) -> Label:
        if self.output_mode == "regression":
            return regression_label(cells[0], place)
        if len(cells) > 1:
            flags = [_ONE_HOT.get(_label_text(x, place)) for x in cells]
            if None in flags:
                raise ValueError(
                    f"{place}: each of these columns must contain 0 or 1. "
                    f"Received: {cells}"
                )
            return [*itertools.compress(self._labels or (), flags)]
        cell = cells[0]
        # Label Studio writes one label as text, and several as {"choices": []}.
        if isinstance(cell, str) and cell.startswith('{"choices"'):
            cell = parse_json(cell, place)
        if isinstance(cell, dict):
            cell = cell.get("choices")
        if self.output_mode == "multilabel":
            return self._read_labels(cell, place)
        # doccano writes one label as a list.
        is_one = isinstance(cell, list) and len(cell) == 1
        return _label_text(cell[0] if is_one else cell, place)

    def _read_labels(self, cell: object, place: str) -> list[str]:
        if isinstance(cell, str) and not _LIST.fullmatch(cell.strip()):
            values = cell.split(self._options.label_separator)
            cell = [value for value in values if value.strip()]
        if not isinstance(cell, list):
            raise ValueError(
                f"{place}: the labels must be a list in JSON, or names with "
                f"{self._options.label_separator!r} between them, without "
                f"brackets and quotes. Received: {cell!r}"
            )
        names = [_label_text(value, place) for value in cell]
        if len({*names}) < len(names) and {"0", "1"}.issuperset(names):
            raise ValueError(
                f"{place}: the labels must be names, not a 0 or 1 for each "
                f"label. Received: {cell!r}"
            )
        return names


def _count_labels(examples: list[InputExample]) -> collections.Counter[str]:
    labels: Any = [example.label for example in examples]
    lists = (x if isinstance(x, list) else [x] for x in labels)
    return collections.Counter(itertools.chain(*lists))


def _label_text(value: object, place: str) -> str:
    # Converts a label to text. True is the same label as true, and 1.0 as 1.
    label = re.sub(r"^(-?\d+)\.0+$", r"\1", str(value).strip())
    if label.lower() in ("true", "false"):
        label = label.lower()
    if isinstance(value, str | int | float) and is_label(label):
        return label
    raise ValueError(
        f"{place}: a label must be a number, or a non-empty string without "
        f"line breaks. Received: {value!r}"
    )
