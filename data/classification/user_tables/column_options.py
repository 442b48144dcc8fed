"""Defines the options that name the columns of texts and labels."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from data.classification import metrics
from data.tables.table_layout import LayoutOptions, TableLayout
from model_folders import kinds
from model_folders.kinds import OutputMode
from options import fields

# The options that name a column.
COLUMN_FLAGS = ("text_column", "text_b_column", "label_column")


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
        kinds.CLASSIFICATION,
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
        self, chosen_columns: Mapping[str, str], columns: Sequence[str]
    ) -> Self:
        """Returns the options to read pairs of texts with a number.

        Args:
            chosen_columns: {flag: its column} of the columns that the user
                chose.
            columns: the columns of the two texts and of the number, for the
                other flags, in the order of `COLUMN_FLAGS`.
        """
        # Any, because `replace` accepts other types for other options.
        changes: dict[str, Any] = {
            name: column
            for name, column in zip(COLUMN_FLAGS, columns, strict=True)
            if name not in chosen_columns
        }
        return dataclasses.replace(
            self, output_mode=kinds.REGRESSION, **changes
        )


def label_columns_of(value: str, columns: Iterable[str]) -> list[str]:
    """Returns the columns that --label_column names.

    Commas separate the names, unless the table has a column whose name is the
    complete value.

    Examples:
        >>> label_columns_of("spam,ham", columns=["text", "spam", "ham"])
        ['spam', 'ham']
        >>> label_columns_of("spam,ham", columns=["text", "spam,ham"])
        ['spam,ham']

    Args:
        value: value of --label_column.
        columns: names of the table's columns.
    """
    return [value] if value in columns else value.split(",")
