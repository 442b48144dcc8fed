"""Chooses the columns of texts and labels, by flags or by usual names.

`ColumnOptions` are the options of a table. For --data_file,
`guess_unset_columns` guesses the columns that no flag names.
"""

import dataclasses
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from absl import logging

from data.classification import metrics
from data.tables.column_names import (
    USUAL_NAMES,
    find_pair_columns,
    guess_columns,
)
from data.tables.table_layout import LayoutOptions, TableLayout, format_of
from data.tables.tables import check_columns
from files.paths import StrPath
from model_folders.output_modes import CLASSIFICATION, REGRESSION, OutputMode
from options import fields


class PairColumns(NamedTuple):
    """The columns of pairs of texts, each named like its flag.

    Attributes:
        text_column: column of the first text.
        text_b_column: column of the second text.
        label_column: column of the pair's number, such as a score.
    """

    text_column: str
    text_b_column: str
    label_column: str


# The options that name a column.
COLUMN_FLAGS = PairColumns._fields


@dataclasses.dataclass(frozen=True, kw_only=True)
class ColumnOptions(LayoutOptions):
    """Options for reading a table: its columns and how its labels are read."""

    text_column: str = fields.training_option(
        "text",
        "Name of the text's column. With --data_file, usual names are found. "
        "For a table without a header line, set all column flags to numbers, "
        "counted from 1.",
    )
    text_b_column: str | None = fields.training_option(
        None, "Name of the second text's column, to classify pairs of texts."
    )
    label_column: str = fields.training_option(
        "label",
        "Name of the label's column. With --data_file, usual names are found. "
        "Or the names of several columns of 0 and 1, separated by commas, one "
        "for each label of a multilabel task.",
    )
    labels: Sequence[str] | None = fields.head_option(
        None,
        "Names of the labels, in order, separated by commas. By default, they "
        "are the sorted labels of the train set, or the labels that the model "
        "was trained with.",
    )
    output_mode: OutputMode = fields.head_option(
        CLASSIFICATION,
        "Kind of label: classification = one label for each text, multilabel "
        "= any number of labels, regression = a number.",
        choices=tuple(metrics.METRICS_OF_MODE),
    )
    label_separator: str = fields.head_option(
        ",",
        "With --output_mode=multilabel, text between two labels in a cell.",
    )

    def text_columns(self) -> list[str]:
        """Returns the column of the text, or the two columns of a pair.

        Raises:
            ValueError: the flag of the label names one of these columns.
        """
        texts = [self.text_column, self.text_b_column]
        columns = [*filter(None, texts)]
        if self.label_column in columns:
            raise ValueError(
                f"--label_column={self.label_column} must not be the same "
                "column as --text_column or --text_b_column"
            )
        return columns

    def layout_for_columns(self) -> TableLayout:
        """Returns the layout of a table that has the columns of the flags.

        The table has no header if all flags of columns are numbers, which
        choose columns as in --text_column=1.
        """
        columns = [
            self.text_column,
            *filter(None, [self.text_b_column]),
            *self.label_column.split(","),
        ]
        by_number = all(map(str.isdecimal, filter(None, columns)))
        has_header = False if by_number else None
        return self.layout(has_header=has_header, columns=columns)

    def with_pair_columns(
        self, set_by_user: Collection[str], usual_columns: PairColumns
    ) -> Self:
        """Returns the options to read pairs of texts with a number.

        Args:
            set_by_user: names of the flags that the user set.
            usual_columns: the columns for the other flags.
        """
        # Any, because `replace` accepts other types for other options.
        changes: dict[str, Any] = {
            name: column
            for name, column in usual_columns._asdict().items()
            if name not in set_by_user
        }
        return dataclasses.replace(self, output_mode=REGRESSION, **changes)


def parse_label_columns(value: str, columns: Iterable[str]) -> list[str]:
    """Returns the columns that --label_column names.

    Commas separate the names, unless the table has a column whose name is the
    complete value.

    Examples:
        >>> parse_label_columns("spam,ham", columns=["text", "spam", "ham"])
        ['spam', 'ham']
        >>> parse_label_columns("spam,ham", columns=["text", "spam,ham"])
        ['spam,ham']

    Args:
        value: value of --label_column.
        columns: names of the table's columns.
    """
    return [value] if value in columns else value.split(",")


def are_columns_numbered(chosen_columns: Mapping[str, str]) -> bool:
    """Returns whether a flag chooses a column by its number.

    Then no column has a name to find. `chosen_columns` are {flag: its column}.
    """
    return any(map(str.isdecimal, chosen_columns.values()))


def guess_unset_columns(
    chosen_columns: Mapping[str, str], path: StrPath, columns: Sequence[str]
) -> dict[str, str]:
    """Guesses the columns of the text and the label that no flag names.

    The function chooses a column by a common name, or because it is the only
    column left. If any column was found, it logs the flags of all columns.

    Args:
        chosen_columns: {flag: its column} of the columns that the user chose.
        path: value of --data_file, for messages.
        columns: names of the columns in its header, [] without rows.

    Returns:
        {"text_column" and "label_column", unless the user chose them: name}.

    Raises:
        ValueError: a column is not found, or a second column of texts may
            belong to the first. The message lists the columns.
    """
    source = f"--data_file={path}"
    _check_has_columns(source, path, columns)
    free_columns = _select_free_columns(path, columns, chosen_columns)
    if not {"text_column", "text_b_column"} & {*chosen_columns}:
        _check_no_pair(source, free_columns)
    unset_flags = [flag for flag in USUAL_NAMES if flag not in chosen_columns]
    found_columns = _choose_columns(source, columns, free_columns, unset_flags)
    check_columns(str(path), columns, found_columns.values())
    if found_columns:
        column_of_flag = {**chosen_columns, **found_columns}
        flags = [f"--{flag}={name}" for flag, name in column_of_flag.items()]
        logging.info("%s: %s", path, " ".join(flags))
    return found_columns


def _select_free_columns(
    path: StrPath, columns: Sequence[str], chosen_columns: Mapping[str, str]
) -> list[str]:
    """Returns the columns of a table that no flag names.

    Args:
        path: the table, for the error.
        columns: all columns of the table.
        chosen_columns: {flag: its column}.
    """
    used_columns = [
        column
        for flag, column in chosen_columns.items()
        if flag != "label_column"
    ]
    if "label_column" in chosen_columns:
        used_columns += parse_label_columns(
            chosen_columns["label_column"], columns
        )
    check_columns(str(path), columns, used_columns)
    return [column for column in columns if column not in used_columns]


def _choose_columns(
    source: str,
    columns: Sequence[str],
    free_columns: Sequence[str],
    flags: Sequence[str],
) -> dict[str, str]:
    """Returns {flag: its column} by the usual names of columns.

    Args:
        source: flag and path of the table, for the error.
        columns: all columns of the table.
        free_columns: columns that no flag names.
        flags: the flags whose columns are wanted.
    """
    column_of_flag: dict[str, str] = {}
    for flag, column in guess_columns(free_columns, flags).items():
        if column is None:
            names = ", ".join(columns)
            raise ValueError(f"{source}: set --{flag} to one of {names}")
        column_of_flag[flag] = column
    return column_of_flag


def _check_has_columns(
    source: str, path: StrPath, columns: Sequence[str]
) -> None:
    """Raises a ValueError if the file contains lines of text, or no rows."""
    # A file of lines of text has the single column text.
    if format_of(path) in (None, "text") and [*columns] == ["text"]:
        raise ValueError(
            f"{source} must end in .csv, .tsv, .jsonl, .json, .xlsx or .parquet"
        )
    if not columns:
        raise ValueError(f"{source} contains no rows")


def _check_no_pair(source: str, columns: Sequence[str]) -> None:
    """Raises a ValueError if two columns may be the texts of pairs."""
    if pair := find_pair_columns(columns):
        raise ValueError(
            f"{source} contains two columns of texts. To classify pairs, set "
            f"--text_column={shlex.quote(pair.text_column)} "
            f"--text_b_column={shlex.quote(pair.text_b_column)}. To classify "
            "one text, set only --text_column"
        )
