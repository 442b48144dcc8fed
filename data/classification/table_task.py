"""A user's own classification task: CSV, TSV or JSON lines, by column names."""

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from absl import logging

from data.classification.decoding import Label
from data.classification.examples import (
    DataProcessor,
    InputExample,
    check_number_of_examples,
    regression_label,
)
from data.io.labels import check_labels, is_label
from data.io.sets import find_set_files
from data.io.tables import check_text, read_table

_EXTENSIONS = (".csv", ".tsv", ".jsonl")

# By output mode.
_METRICS = {
    "classification": ("accuracy", "f1_macro"),
    "multilabel": ("accuracy", "f1_micro", "f1_macro"),
    "regression": ("pearson", "spearman"),
}
OUTPUT_MODES = tuple(_METRICS)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Columns of a table's texts and labels, and the kind of labels.

    Attributes:
        text_column: the text's column.
        label_column: the label's column. A test set may lack it, or have empty
            cells (in multi-label classification, where an empty cell means no
            label, a JSON null): such examples have the label None.
        text_b_column: the second text's column; None for single texts.
        labels: in order; None for those of the train set, sorted.
        output_mode: "classification"; "multilabel", any number of labels
            each; or "regression", a number.
        label_separator: separates the labels in a multilabel cell. JSON lines
            may have a list instead.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets
            write them; otherwise it is an ordinary character.
        id_column: the column that names the examples; by default they are
            numbered.
    """

    text_column: str = "text"
    label_column: str = "label"
    text_b_column: str | None = None
    labels: Sequence[str] | None = None
    output_mode: str = "classification"
    label_separator: str = ","
    quoting: bool = True
    id_column: str | None = None


class TableProcessor(DataProcessor):
    """Reads `train`, `dev` and `test` files with any of the extensions.

    A table's first line names its columns. If the columns are given by
    number, from 1, the table has no such line.

    Args:
        data_dir: folder of the files, from which the labels are read if not
        given.
        options: TableOptions.

    Raises:
        ValueError: there is no such output mode, or the labels are too few
            or not distinct.
    """

    test_set_has_labels = True

    def __init__(
        self, data_dir: str | os.PathLike[str], options: TableOptions
    ) -> None:
        self.output_mode = options.output_mode
        if self.output_mode not in _METRICS:
            raise ValueError(
                f"output_mode must be one of {', '.join(_METRICS)}. Received: "
                f"{self.output_mode!r}"
            )
        self.metrics = _METRICS[self.output_mode]
        self._options, self._data_dir = options, data_dir
        self._text_columns = [
            options.text_column,
            *filter(None, [options.text_b_column]),
        ]
        self._labels: list[str] | None = None
        if options.labels is not None:
            self._labels = list(options.labels)
            self._check_labels(self._labels, "of --labels")

    def get_labels(self) -> list[str] | None:
        """Returns the list of labels; None in regression.

        Raises:
            OSError: they are read from a train set that is missing.
            ValueError: as `read_set`, or the train set has too few
                labels.
        """
        if self.output_mode == "regression":
            return None
        if self._labels is None:
            found: set[str] = set()
            for example in self.read_set(self._data_dir, "train"):
                label = example.label
                found.update(label if isinstance(label, list) else [str(label)])
            labels = sorted(found)
            self._check_labels(labels, f"of the train set in {self._data_dir}")
            self._labels = labels
            logging.info("The labels of the train set: %s", labels)
        return self._labels

    def _check_labels(self, labels: list[str], which: str) -> None:
        fewest = {"classification": 2, "multilabel": 1, "regression": 0}
        check_labels(labels, which, fewest[self.output_mode])

    def read_set(
        self, data_dir: str | os.PathLike[str], name: str
    ) -> list[InputExample]:
        """See SetReader.

        The label of a test example is None where it is not known.
        """
        path, options = _find_file(data_dir, name), self._options
        columns = [
            *self._text_columns,
            *filter(None, [options.id_column]),
        ]
        optional_columns = []
        if name == "test":
            optional_columns.append(options.label_column)
        else:
            columns.append(options.label_column)
        num_texts = len(self._text_columns)
        examples: list[InputExample] = []
        for where, cells in read_table(
            path, columns, options.quoting, optional_columns
        ):
            texts = cells[:num_texts]
            for text, column in zip(texts, self._text_columns, strict=True):
                check_text(text, where, column)
            guid = f"{name}-{len(examples) + 1}"
            if options.id_column:
                guid = cells[num_texts]
                if type(guid) not in (str, int):
                    raise ValueError(
                        f"{where}, column {options.id_column!r}: an id must be "
                        f"a string or an integer. Received: {guid}"
                    )
            label = None
            if name != "test" or not self._is_unknown(cells[-1]):
                place = f"{where}, column {options.label_column!r}"
                label = self._read_label(cells[-1], place, name)
            text_a, text_b = (*texts, None)[:2]
            examples.append(InputExample(guid, text_a, text_b, label))
        check_number_of_examples(examples, path, name, self.output_mode)
        return examples

    def _is_unknown(self, cell: Any) -> bool:
        """Returns whether a cell of the test set leaves the label unknown."""
        if self.output_mode == "multilabel":
            return cell is None
        return cell is None or cell == ""

    def _read_label(self, cell: Any, place: str, set_name: str) -> Label:
        """Returns the label that a cell holds, checked."""
        label: Label
        if self.output_mode == "regression":
            return regression_label(cell, place)
        if self.output_mode == "multilabel":
            if isinstance(cell, str):
                values = cell.split(self._options.label_separator)
                cell = [value for value in values if value.strip()]
            if not isinstance(cell, list):
                raise ValueError(
                    f"{place}: the labels must be a list or a string. "
                    f"Received: {cell!r}"
                )
            label = labels = [_label_text(value, place) for value in cell]
        else:
            label = _label_text(cell, place)
            labels = [label]
        # Nothing to check while the labels themselves are being read.
        if self._labels is None and set_name == "train":
            return label
        for each in labels:
            if each not in (self.get_labels() or []):
                raise ValueError(
                    f"{place}: unknown label {each!r}; the labels are "
                    f"{self.get_labels()}. Correct the line, or add the label "
                    "to those given or to the train set; in a test set that "
                    "is not to be scored leave the column out"
                )
        return label


def _find_file(data_dir: str | os.PathLike[str], name: str) -> str:
    """Returns the one file of a set."""
    found = find_set_files(
        data_dir, name, [name + extension for extension in _EXTENSIONS]
    )
    if len(found) > 1:
        raise ValueError(
            f"there must be one {name} set, not {' and '.join(found)}"
        )
    return found[0]


def _label_text(value: Any, place: str) -> str:
    """Returns a label as text; JSON may have it as a number or a boolean."""
    label = str(value).strip()
    if isinstance(value, bool):
        label = label.lower()
    if isinstance(value, str | int) and is_label(label):
        return label
    raise ValueError(
        f"{place}: a label must be a string, not empty, or an integer, on "
        f"one line. Received: {value!r}"
    )
