"""Describes a task of GLUE, or XNLI: its files, columns, labels and metrics."""

import dataclasses
from collections.abc import Mapping, Sequence

from data.sets.set_names import BaseSet
from model_folders.model_json_types import OutputMode


@dataclasses.dataclass(frozen=True, kw_only=True)
class GlueTaskSpec:
    """Describes a task whose train, dev and test sets are TSV files.

    Attributes:
        label_names: names of the labels. Not used in regression.
        train_file: name of the train set's file.
        other_files: name of the dev and the test set's file. {} stands for
            "dev" or "test".
        dev_guid: first part of the guids of the dev set's examples.
        text_columns: column of the text, or the two columns of a pair. A column
            is a name in the file's first line, or a number, counted from 0.
        label_column: column of the label. A test set may lack this column.
        columns_of_set: {set: columns of the texts and of the label}, numbers
            counted from 0, if no file of a mirror is read. None = the first
            line of a file shows where `text_columns` and `label_column` are.
        has_header: False if only the test set's file begins with a header line,
            and contains a text in column 1.
        guid_column: column of the last part of the examples' guids. None = the
            number of the line, counted from 0.
        language: language of the dev and the test set, which contain other
            languages too. The first cell of a line is its language. None = all
            lines are read.
        hub_labels: names of the labels in the order in which Hugging Face's
            GLUE data set numbers them, () if GLUE's own files number them too.
        label_of_alias: {other name in the files: name of the label}.
        test_set_has_labels: False if the labels of the test set are only
            placeholders.
        drops_short_lines: True to skip lines with too few columns and log a
            warning, False to raise an error. If True, a test set's short lines
            are not skipped. Their missing texts become empty texts, because
            GLUE identifies predictions by line.
        output_mode: "classification", or "regression" for STS-B.
        metrics: names of the metrics that score the task, the main metric
            first.
    """

    label_names: Sequence[str] = ("0", "1")
    train_file: str = "train.tsv"
    other_files: str = "{}.tsv"
    dev_guid: str = "dev"
    text_columns: Sequence[str | int] = ("sentence1", "sentence2")
    label_column: str | int = "label"
    columns_of_set: Mapping[BaseSet, Sequence[int]] | None = None
    has_header: bool = True
    guid_column: int | None = None
    language: str | None = None
    hub_labels: Sequence[str] = ()
    label_of_alias: Mapping[str, str] = dataclasses.field(default_factory=dict)
    test_set_has_labels: bool = False
    drops_short_lines: bool = False
    output_mode: OutputMode = "classification"
    metrics: tuple[str, ...] = ("eval_accuracy",)

    @property
    def labels(self) -> list[str] | None:
        """Names of the labels, None in regression."""
        if self.output_mode == "regression":
            return None
        return [*self.label_names]

    @property
    def placeholder(self) -> str | float:
        """The label of test examples in Google's code."""
        return self.labels[0] if self.labels else 0.0

    def file_of_set(self, set_name: BaseSet) -> str:
        """Returns the name of a set's file."""
        if set_name == "train":
            return self.train_file
        return self.other_files.format(set_name)
