"""Defines the flags that tell how to read a table of texts and labels."""

import dataclasses
from collections.abc import Sequence

from command_line import flags
from data.classification import metrics
from data.tables.table_layout import LayoutOptions
from model_folders.model_json_types import OutputMode


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableOptions(LayoutOptions):
    """Options for reading a table: its columns and the kind of its labels."""

    text_column: str = flags.training_flag(
        "text",
        "Name of the text's column. With --data_file, usual names are found. "
        "For a table without a header line, set all column flags to numbers, "
        "counted from 1.",
    )
    text_b_column: str | None = flags.training_flag(
        None, "Name of the second text's column, to classify pairs of texts."
    )
    label_column: str = flags.training_flag(
        "label",
        "Name of the label's column. With --data_file, usual names are found. "
        "Or the names of several columns of 0 and 1, separated by commas, one "
        "for each label of a multilabel task.",
    )
    labels: Sequence[str] | None = flags.head_flag(
        None,
        "Names of the labels, in order, separated by commas. By default, they "
        "are the sorted labels of the train set, or the labels that the model "
        "was trained with.",
    )
    output_mode: OutputMode = flags.head_flag(
        "classification",
        "Kind of label: classification = one label for each text, multilabel "
        "= any number of labels, regression = a number.",
        choices=tuple(metrics.METRICS_OF_MODE),
    )
    label_separator: str = flags.head_flag(
        ",",
        "With --output_mode=multilabel, text between two labels in a cell.",
    )
