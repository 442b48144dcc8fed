"""Reads the train, dev and test sets of a task of GLUE, or of XNLI.

glue_tasks.py lists the tasks. glue_layouts.py finds the columns of a file.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from absl import logging

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.glue import glue_layouts
from data.classification.regression_labels import parse_regression_label
from data.processors.set_names import BaseSet
from data.tables.table_formats import DEFAULT_LAYOUT, TableLayout
from files.paths import StrPath
from model_folders.model_json_types import OutputMode

# Names of the labels of natural language inference, in GLUE and XNLI.
NLI_LABELS = ("contradiction", "entailment", "neutral")


class _SetFile(NamedTuple):
    """The file of a set.

    Attributes:
        path: a TSV file of GLUE.
        set_name: the set that it contains.
        lines: (number, cells) of each line.
        indices: where the texts and the label are in a line.
    """

    path: str
    set_name: BaseSet
    lines: Sequence[tuple[int, list[str]]]
    indices: glue_layouts.ColumnIndices


@dataclasses.dataclass(kw_only=True)
class GlueProcessor(ClassificationProcessor):
    """Reads a task of GLUE, whose train, dev and test sets are TSV files.

    Files of mirrors, whose columns have other names and places, are read too.

    Attributes:
        label_names: names of the labels. Not used in regression.
        train_file: name of the train set's file.
        other_files: name of the dev and the test set's file. {} stands for
            "dev" or "test".
        dev_guid: first part of the guids of the dev set's examples.
        text_columns: column of the text, or the two columns of a pair. A column
            is a name in the file's first line, or a number, counted from 0.
        label_column: column of the label. A test set may lack this column.
        has_header: False if only the test set's file begins with a header line,
            and contains a text in column 1.
        guid_column: column of the last part of the examples' guids. None = the
            number of the line, counted from 0.
        hub_labels: names of the labels in the order in which Hugging Face's
            GLUE data set numbers them, () if GLUE's own files number them too.
        drops_short_lines: True to skip lines with too few columns and log a
            warning, False to raise an error. If True, a test set's short lines
            are not skipped. Their missing texts become empty texts, because
            GLUE identifies predictions by line.
        output_mode, metrics: see ClassificationProcessor.
        data_dir: folder of the files.
        layout: how the tables of mirrors are written.
    """

    label_names: Sequence[str] = ("0", "1")
    train_file: str = "train.tsv"
    other_files: str = "{}.tsv"
    dev_guid: str = "dev"
    text_columns: Sequence[str | int] = ("sentence1", "sentence2")
    label_column: str | int = "label"
    has_header: bool = True
    guid_column: int | None = None
    hub_labels: Sequence[str] = ()
    drops_short_lines: bool = False
    output_mode: OutputMode = "classification"
    metrics: tuple[str, ...] = ("eval_accuracy",)
    data_dir: StrPath | None = ""
    layout: TableLayout = DEFAULT_LAYOUT

    def __post_init__(self) -> None:
        """Begins without a set."""
        super().__init__()

    def read_labels(self) -> list[str] | None:
        """Returns the attribute `label_names`, or None in regression.

        The function reads no file, because each task of GLUE has its labels.
        """
        return self._labels

    @property
    def _labels(self) -> list[str] | None:
        if self.output_mode == "regression":
            return None
        return [*self.label_names]

    def has_set(self, set_name: BaseSet) -> bool:
        """Returns whether the folder contains the file of a set.

        Raises:
            ValueError: it contains several, or --data_dir is not set.
        """
        try:
            self._find_file(set_name)
        except FileNotFoundError:
            return False
        return True

    def _find_file(self, set_name: BaseSet) -> str:
        """Returns the path of a set, as `glue_layouts.find_table` does."""
        file_name = self.other_files.format(set_name)
        if set_name == "train":
            file_name = self.train_file
        return glue_layouts.find_table(self.data_dir, set_name, file_name)

    def _read_sets(
        self, set_name: BaseSet
    ) -> dict[BaseSet, list[InputExample]]:
        """Returns {name of the set: examples}, for `read`."""
        path = self._find_file(set_name)
        lines = [*glue_layouts.read_cells(path, self.layout)]
        # Empty lines at the end, which editors may add, are no examples.
        while lines and lines[-1][1] == [""]:
            lines.pop()
        if not lines:
            raise ValueError(f"{path} contains no example")
        indices = self._find_indices(path, lines[0][1], set_name)
        set_file = _SetFile(path, set_name, lines, indices)
        examples = [*self._create_examples(set_file)]
        if not examples:
            raise ValueError(f"{path} contains no example")
        self._log_lines(set_file)
        return {set_name: examples}

    def _create_examples(self, set_file: _SetFile) -> Iterator[InputExample]:
        """Yields the examples of a file's lines.

        Raises a ValueError that names a malformed line.
        """
        for index, (line_number, line) in enumerate(set_file.lines):
            if index == 0 and set_file.indices.has_header:
                continue
            try:
                example = self._create_example(index, line, set_file)
            except IndexError:
                short = glue_layouts.short_line_error(line)
                raise ValueError(
                    f"{set_file.path}, line {line_number}: {short}"
                ) from None
            except ValueError as error:
                raise ValueError(
                    f"{set_file.path}, line {line_number}: {error}"
                ) from error
            if example:
                yield example

    def _log_lines(self, set_file: _SetFile) -> None:
        """Logs how numbers are read as labels, and what short lines become."""
        path, set_name, lines, indices = set_file
        if set_name != "test":
            column = indices.columns[-1]
            cells = (line[column] for _, line in lines if len(line) > column)
            glue_layouts.log_label_numbers(path, cells, self.hub_labels)
        longest = max(indices.columns)
        num_short = sum(len(line) <= longest for _, line in lines)
        if self.drops_short_lines and num_short:
            action = "skipped" if set_name != "test" else "added empty texts to"
            message = "%s: %s %d lines with too few columns"
            logging.warning(message, path, action, num_short)

    def _find_indices(
        self, path: str, header: list[str], set_name: BaseSet
    ) -> glue_layouts.ColumnIndices:
        """Returns where the texts and the labels of a set are.

        `header` are the cells of the first line.
        """
        columns = self.text_columns
        if set_name == "test" and not self.has_header:
            # GLUE's test set has a header line, but other columns.
            columns = (1,)
        try:
            return glue_layouts.find_indices(
                header,
                columns,
                None if set_name == "test" else self.label_column,
                has_header=self.has_header or set_name == "test",
            )
        except ValueError as error:
            raise ValueError(f"{path}, line 1: {error}") from error

    def _create_example(
        self, index: int, line: list[str], set_file: _SetFile
    ) -> InputExample | None:
        """Returns the example of a line, None if the line is skipped.

        Args:
            index: number of the line, counted from 0.
            line: cells of the line.
            set_file: the file of the line.

        Raises:
            IndexError: the line has too few columns.
            ValueError: the label is unknown.
        """
        _, set_name, _, indices = set_file
        columns = indices.columns
        if self.drops_short_lines and len(line) <= max(columns):
            if set_name != "test":
                return None
            line = line + [""] * (max(columns) + 1 - len(line))
        is_pair = len(self.text_columns) == 2
        text_a = line[columns[0]]
        text_b = line[columns[1]] if is_pair else None
        has_label = set_name != "test" or self.test_set_has_labels
        label = (
            self._parse_label(line, columns[-1])
            if has_label
            else self._placeholder()
        )
        example_id: int | str = index
        if self.guid_column is not None and indices.is_official:
            example_id = line[self.guid_column]
        prefix = self.dev_guid if set_name == "dev" else set_name
        return InputExample(f"{prefix}-{example_id}", text_a, text_b, label)

    def _placeholder(self) -> str | float:
        """Returns the label of test examples in Google's code."""
        return self._labels[0] if self._labels else 0.0

    def _parse_label(self, line: list[str], column: int) -> str | float:
        """Returns GLUE's own name of the label in a column, or a number."""
        labels = self._labels
        label = line[column]
        where = f"column {column % len(line) + 1}"
        if labels is None:
            return parse_regression_label(label, where)
        label = glue_layouts.translate_label(label, labels, self.hub_labels)
        if label not in labels:
            raise ValueError(
                f"{where}: unknown label {label!r}; the task's labels are "
                f"{labels}"
            )
        return label


class XnliProcessor(GlueProcessor):
    """XNLI: MultiNLI's task in 15 languages.

    Args:
        language: language of the texts. Google's code uses "zh", and does not
            read the test set.
        data_dir: folder of the files.
    """

    test_set_has_labels = True

    def __init__(
        self, language: str = "zh", data_dir: StrPath | None = ""
    ) -> None:
        super().__init__(
            data_dir=data_dir,
            label_names=NLI_LABELS,
            train_file=f"multinli/multinli.train.{language}.tsv",
            other_files="xnli.{}.tsv",
        )
        self.language = language

    def _find_indices(
        self, path: str, header: list[str], set_name: BaseSet
    ) -> glue_layouts.ColumnIndices:
        columns = [0, 1, 2] if set_name == "train" else [6, 7, 1]
        return glue_layouts.ColumnIndices(columns)

    def _create_example(
        self, index: int, line: list[str], set_file: _SetFile
    ) -> InputExample | None:
        if set_file.set_name != "train" and line[0] != self.language:
            return None
        return super()._create_example(index, line, set_file)

    def _parse_label(self, line: list[str], column: int) -> str | float:
        if line[column] == "contradictory":
            return "contradiction"
        return super()._parse_label(line, column)
