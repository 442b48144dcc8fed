"""Reads a user's own classification or regression task from tables."""

import collections
import dataclasses
import itertools
import re
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
from data.io.tables import read_table
from data.io.text_files import find_set_file
from files import flags
from files.labels import check_labels, label_problem
from files.paths import StrPath

# Matches a list of strings in the notation of Python or JSON.
_LIST = re.compile(r"""\[\s*(["'].*["']\s*)?\]""", re.DOTALL)
# If the examples of a train set have fewer labels than this in total, a label
# that occurs only in line 1 is not suspected of being a column's name.
_FEWEST = 10
# Names that tables often use for the column of the labels.
_NAMES = ("label", "labels", "class", "category", "target")
EXTENSIONS = (".csv", ".tsv", ".jsonl", ".parquet")

# {value of --output_mode: names of the metrics that score such a task}.
_METRICS = {
    "classification": ("f1_macro", "accuracy"),
    "multilabel": ("f1_macro", "f1_micro", "accuracy"),
    "regression": ("spearman", "pearson"),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options for reading a table: its columns and the kind of its labels.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. But in multi-label classification, an empty
    cell is an empty list of labels, and only a JSON null becomes None.
    """

    text_column: str = flags.training(
        "text",
        "Name of the text's column. For a table without a header line, set all "
        "column flags to numbers, counted from 1.",
    )
    text_b_column: str | None = flags.training(
        None, "Name of the second text's column, to classify pairs of texts."
    )
    label_column: str = flags.training("label", "Name of the label's column.")
    id_column: str | None = flags.neutral(
        None,
        "Name of a column whose values identify the examples in "
        "predictions.jsonl. By default, the examples are numbered.",
    )
    labels: Sequence[str] | None = flags.head(
        None,
        "Names of the labels, in order, separated by commas. By default, they "
        "are the sorted labels of the train set, or the labels that the model "
        "was trained with.",
    )
    output_mode: str = flags.head(
        "classification",
        "Kind of label: classification = one label for each text, multilabel "
        "= any number of labels, regression = a number.",
        choices=tuple(_METRICS),
    )
    label_separator: str = flags.head(
        ",",
        "With --output_mode=multilabel, text between two labels in a cell.",
    )
    quoting: bool = flags.training(
        True,
        'In CSV and TSV files, treat " as the quote around a cell, not as an '
        "ordinary character.",
    )


class TableProcessor(DataProcessor):
    """Reads the sets of a user's own task from tables.

    The files are named `train`, `dev` and `test`, with the extension .csv,
    .tsv, .jsonl or .parquet. The first line of a CSV or TSV file names the
    columns. But if all column options are numbers, counted from 1, the first
    line is expected to be an example.

    Raises:
        ValueError: the label separator is empty, the label column is a text
            column, or `options.labels` contains too few labels or repeats one.
    """

    test_set_has_labels = True
    # Whether the label column may be missing not only in the test set, but also
    # in the train and dev sets.
    may_lack_labels = False

    def __init__(self, data_dir: StrPath, options: TableOptions) -> None:
        self.output_mode = options.output_mode
        if not options.label_separator:
            raise ValueError(
                "--label_separator= is empty. Set it to the text between two "
                "labels in a cell, such as a comma"
            )
        self.metrics = _METRICS[self.output_mode]
        self._options, self._data_dir = options, data_dir
        self.text_columns = [
            options.text_column,
            *filter(None, [options.text_b_column]),
        ]
        if options.label_column in self.text_columns:
            raise ValueError(
                f"--label_column={options.label_column} must not be the same "
                "column as --text_column or --text_b_column"
            )
        self._labels: list[str] | None = None
        if options.labels is not None:
            self._labels = self._checked(list(options.labels), "--labels")

    def get_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        if self.output_mode == "regression":
            return None
        if self._labels is None:
            where = f"the train set in {self._data_dir}"
            labels = [
                label if isinstance(label := each.label, list) else [str(label)]
                for each in self.read_set(self._data_dir, "train")
            ]
            counts = collections.Counter(itertools.chain(*labels))
            self._check_names(where, labels[0], counts)
            self._labels = self._checked(sorted(counts), where)
            logging.info("The labels of the train set: %s", self._labels)
        return self._labels

    def _check_names(
        self, where: str, first: list[str], counts: collections.Counter[str]
    ) -> None:
        """Checks that no label is a column's name, or a list of other labels.

        `first` are the labels of the first line. `counts` contains the number
        of examples with each label.
        """
        options = self._options
        has_names = not options.label_column.isdecimal()
        is_lone = [counts[label] for label in first] == [1]
        if is_lone and counts.total() >= _FEWEST and not has_names:
            message = (
                f"{where}: only line 1 contains the label {first[0]!r}. If "
                "that line names the columns, set --text_column and "
                "--label_column to these names. If it is an example, move it "
                "to another line"
            )
            if first[0].casefold() in _NAMES:
                raise ValueError(message)
            logging.warning("%s", message)
        for mark in {*",;|\t"} - {options.label_separator}:
            joined = (x for x in counts if mark in x)
            for label in joined if self.output_mode == "multilabel" else ():
                if counts.keys() >= {x.strip() for x in label.split(mark)}:
                    logging.warning(
                        "%s: the label %r consists of other labels. If %r "
                        "separates labels, set --label_separator",
                        *(where, label, mark),
                    )
                    break

    def _checked(self, labels: list[str], where: str) -> list[str]:
        fewest = {"classification": 2, "multilabel": 1, "regression": 0}
        check_labels(labels, where, fewest=fewest[self.output_mode])
        return labels

    def read_set(self, data_dir: StrPath, name: str) -> list[InputExample]:
        """Reads the set `name` ("train", "dev" or "test") from its table.

        If the table does not contain a test example's label, the label is None.
        """
        path = find_set_file(
            data_dir, name, [name + extension for extension in EXTENSIONS]
        )
        options = self._options
        is_test = name == "test" or self.may_lack_labels
        id_columns = [*filter(None, [options.id_column])]
        label_columns = [options.label_column]
        # In multi-label classification an empty cell is an empty list of
        # labels, not an unknown label.
        is_multilabel = self.output_mode == "multilabel"
        unknown = (None,) if is_multilabel else (None, "")
        num_texts = len(self.text_columns)
        examples: list[InputExample] = []
        for where, cells in read_table(
            path,
            self.text_columns,
            id_columns + label_columns * (not is_test),
            options.quoting,
            label_columns * is_test,
        ):
            guid = f"{name}-{len(examples) + 1}"
            if options.id_column:
                guid = cells[num_texts]
                if type(guid) not in (str, int):
                    raise ValueError(
                        f"{where}, column {options.id_column!r}: an example's "
                        f"id must be a string or an integer. Received: {guid}"
                    )
            label = None
            if not is_test or cells[-1] not in unknown:
                place = f"{where}, column {options.label_column!r}"
                label = self._read_label(cells[-1], place, name)
            text_a, text_b = (*cells[:num_texts], None)[:2]
            examples.append(InputExample(guid, text_a, text_b, label))
        check_number_of_examples(examples, path, name, self.output_mode)
        return examples

    def _read_label(self, cell: Any, place: str, set_name: str) -> Label:
        """Converts the contents of a cell to a label, and checks the label.

        `place` names the cell's file, line and column, for error messages.
        """
        if self.output_mode == "regression":
            return regression_label(cell, place)
        if self.output_mode == "multilabel":
            if isinstance(cell, str):
                if _LIST.fullmatch(cell.strip()):
                    raise ValueError(
                        f"{place}: the cell looks like a list in Python or "
                        "JSON; separate labels by "
                        f"{self._options.label_separator!r} without brackets "
                        "and quotes, or use lists in a .jsonl file. Received: "
                        f"{cell!r}"
                    )
                values = cell.split(self._options.label_separator)
                cell = [value for value in values if value.strip()]
            if not isinstance(cell, list):
                raise ValueError(
                    f"{place}: the labels must be a list or a string. "
                    f"Received: {cell!r}"
                )
            names = [_label_text(value, place) for value in cell]
            if len({*names}) < len(names) and {"0", "1"}.issuperset(names):
                raise ValueError(
                    f"{place}: the labels must be names, not a 0 or 1 for each "
                    f"label. Received: {cell!r}"
                )
            label: Label = names
        else:
            label = _label_text(cell, place)
        # `get_labels` is reading the train set to collect the labels, so there
        # is no list of labels to check against.
        if self._labels is None and set_name == "train":
            return label
        for each in label if isinstance(label, list) else [label]:
            if each not in (self.get_labels() or []):
                raise ValueError(
                    f"{place}: unknown label {each!r}; the labels are "
                    f"{self.get_labels()}. Correct the line, or add the label "
                    "to --labels or to the train set. If a test set should "
                    "not be scored, remove its label column"
                )
        return label


def _label_text(value: Any, place: str) -> str:
    """Converts a label to text.

    In JSON and Parquet files, a label may be an integer or a bool. A bool
    becomes "true" or "false". Raises a ValueError if `value` is not a label.
    """
    label = str(value).strip()
    if isinstance(value, bool):
        label = label.lower()
    if isinstance(value, str | int) and not label_problem(label):
        return label
    raise ValueError(
        f"{place}: a label must be an integer, or a non-empty string without "
        f"line breaks. Received: {value!r}"
    )
