"""Reads the sets of a task of GLUE, or of XNLI, for its processor.

glue_tasks.py lists the tasks. glue_layouts.py finds the columns of a file.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from absl import logging

from data.classification.classification_examples import (
    InputExample,
    parse_regression_label,
)
from data.classification.classification_processor import ClassificationProcessor
from data.classification.glue import glue_layouts
from data.classification.glue.glue_tasks import (
    GlueTaskDefinition,
    define_task,
)
from data.sets.held_sets import HeldSets
from data.sets.set_names import BaseSet, SetName, base_set_of, suffix_of
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout
from files.paths import StrPath

# The suffix of MultiNLI's mismatched sets, such as "dev_mm".
_MISMATCHED = "_mm"


class GlueSets(HeldSets[InputExample]):
    """The sets of a task of GLUE, whose files are TSV files.

    Files of mirrors, whose columns have other names and places, are read too.

    Args:
        definition: the files, columns and labels of the task.
        data_dir: folder of the files.
        layout: how the tables of mirrors are written.
    """

    def __init__(
        self,
        definition: GlueTaskDefinition,
        data_dir: StrPath | None,
        layout: TableLayout = DEFAULT_LAYOUT,
    ) -> None:
        super().__init__()
        self._definition = definition
        self._data_dir = data_dir
        self._layout = layout

    def has_set(self, set_name: BaseSet) -> bool:
        """Returns whether the folder contains the file of a set."""
        try:
            self._find_file(set_name)
        except FileNotFoundError:
            return False
        return True

    def read_sets(
        self, set_name: BaseSet
    ) -> Mapping[BaseSet, list[InputExample]]:
        """Reads the file of a set, which contains no other set."""
        path = self._find_file(set_name)
        lines = _read_lines(path, self._layout)
        indices = _find_column_indices(
            self._definition, set_name, path, lines[0].cells
        )
        parser = _LineParser(self._definition, set_name, path, indices)
        examples = [*parser.parse_lines(lines)]
        if not examples:
            raise ValueError(f"{path} contains no example")
        parser.log_lines(lines)
        return {set_name: examples}

    def read_labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression.

        The function reads no file, because each task of GLUE has its labels.
        """
        labels = self._definition.labels
        return None if labels is None else [*labels]

    def _find_file(self, set_name: BaseSet) -> str:
        """Returns the path of a set, as `glue_layouts.find_table_file` does."""
        return glue_layouts.find_table_file(
            self._data_dir, set_name, self._definition.file_of_set(set_name)
        )


class GlueProcessor(ClassificationProcessor):
    """Processor of a task of GLUE, which may have mismatched sets.

    Args:
        definition: the labels and the metrics of the task.
        sets: the sets of the task.
        mismatched_sets: MultiNLI's "dev_mm" and "test_mm", as the sets "dev"
            and "test". None for other tasks, which lack them.
    """

    def __init__(
        self,
        definition: GlueTaskDefinition,
        sets: GlueSets,
        mismatched_sets: GlueSets | None = None,
    ) -> None:
        super().__init__(
            sets,
            definition,
            output_mode=definition.output_mode,
            num_texts=len(definition.text_columns),
        )
        self._mismatched_sets = mismatched_sets
        if mismatched_sets:
            self.dev_sets = ("dev", f"dev{_MISMATCHED}")
            self.test_sets = ("test", f"test{_MISMATCHED}")

    def take(self, set_name: SetName) -> list[InputExample] | None:
        """Returns a set, None if it is a missing mismatched set."""
        sets = self._mismatched_sets
        if sets is None or suffix_of(set_name) != _MISMATCHED:
            return super().take(set_name)
        base_set = base_set_of(set_name)
        return sets.take(base_set) if sets.has_set(base_set) else None


def create_glue_processor(
    task_name: str,
    data_dir: StrPath | None,
    xnli_language: str,
    layout: TableLayout = DEFAULT_LAYOUT,
) -> GlueProcessor:
    """Creates the processor of a task of GLUE, or of XNLI."""
    definition = define_task(task_name, xnli_language)
    if not definition.may_be_of_mirror:
        # `layout` describes the files of mirrors.
        layout = DEFAULT_LAYOUT
    mismatched_sets = None
    if definition.mismatched is not None:
        mismatched_sets = GlueSets(definition.mismatched, data_dir, layout)
    return GlueProcessor(
        definition, GlueSets(definition, data_dir, layout), mismatched_sets
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file.

    Attributes:
        index: number of the line, or of the row of another table, counted
            from 0.
        line_number: its place in the file, for errors.
        cells: the cells of the line, at least one.
    """

    index: int
    line_number: int
    cells: list[str]


def _read_lines(path: str, layout: TableLayout) -> list[_Line]:
    """Reads the lines of a file, without empty lines at its end."""
    lines = [
        _Line(index, line_number, cells)
        for index, (line_number, cells) in enumerate(
            glue_layouts.read_cells(path, layout)
        )
    ]
    # Editors may add empty lines at the end, which are no examples.
    while lines and lines[-1].cells == [""]:
        lines.pop()
    if not lines:
        raise ValueError(f"{path} contains no example")
    return lines


def _find_column_indices(
    definition: GlueTaskDefinition,
    set_name: BaseSet,
    path: str,
    header: Sequence[str],
) -> glue_layouts.ColumnIndices:
    """Returns the indices of the columns with the texts and labels of a set.

    `header` are the cells of the first line.
    """
    if definition.columns_of_set is not None:
        return glue_layouts.ColumnIndices(
            [*definition.columns_of_set[set_name]]
        )
    columns = definition.text_columns
    if set_name == "test" and not definition.has_header:
        # GLUE's test set has a header line, but other columns.
        columns = (1,)
    try:
        return glue_layouts.find_column_indices(
            header,
            columns,
            None if set_name == "test" else definition.label_column,
            has_header=definition.has_header or set_name == "test",
        )
    except ValueError as error:
        raise ValueError(f"{path}, line 1: {error}") from error


class _LineParser:
    """Turns the lines of a set's file into examples.

    Args:
        definition: the task.
        set_name: the set that the file contains.
        path: the file, for messages.
        indices: where the texts and the label are in a line.
    """

    def __init__(
        self,
        definition: GlueTaskDefinition,
        set_name: BaseSet,
        path: str,
        indices: glue_layouts.ColumnIndices,
    ) -> None:
        self._definition = definition
        self._set_name = set_name
        self._path = path
        self._indices = indices
        # Number of cells of a line that has all columns.
        self._width = max(indices.columns) + 1

    def parse_lines(self, lines: Sequence[_Line]) -> Iterator[InputExample]:
        """Yields the examples of the lines, without those that are skipped.

        Raises:
            ValueError: a line has too few columns, or its label is unknown.
                The message names the line.
        """
        for line in lines[1:] if self._indices.has_header else lines:
            if self._is_skipped(line):
                continue
            try:
                yield self._create_example(line.index, self._fill(line.cells))
            except ValueError as error:
                raise ValueError(
                    f"{self._path}, line {line.line_number}: {error}"
                ) from error

    def log_lines(self, lines: Sequence[_Line]) -> None:
        """Logs how numbers are read as labels, and what short lines become."""
        if self._set_name != "test":
            column = self._indices.columns[-1]
            labels = (
                line.cells[column] for line in lines if len(line.cells) > column
            )
            glue_layouts.log_label_numbers(
                self._path, labels, self._definition.hub_labels
            )
        num_short = sum(map(self._is_short, lines))
        if self._definition.drops_short_lines and num_short:
            logging.warning(
                "%s: %s %d lines with too few columns",
                self._path,
                "added empty texts to"
                if self._set_name == "test"
                else "skipped",
                num_short,
            )

    def _is_short(self, line: _Line) -> bool:
        return len(line.cells) < self._width

    def _is_skipped(self, line: _Line) -> bool:
        """Returns whether a line is no example of the set."""
        definition = self._definition
        has_languages = (
            definition.language is not None and self._set_name != "train"
        )
        if has_languages and line.cells[0] != definition.language:
            return True
        drops_short = definition.drops_short_lines and self._set_name != "test"
        return drops_short and self._is_short(line)

    def _fill(self, cells: list[str]) -> list[str]:
        """Returns the cells of a line, with an empty cell in each column.

        Raises:
            ValueError: the line has too few columns, and the task does not
                allow this.
        """
        num_missing = self._width - len(cells)
        if num_missing > 0 and not self._definition.drops_short_lines:
            raise glue_layouts.short_line_error(cells)
        return cells + [""] * num_missing

    def _create_example(self, index: int, cells: list[str]) -> InputExample:
        """Returns the example of a line with all columns."""
        definition = self._definition
        columns = self._indices.columns
        is_pair = len(definition.text_columns) == 2
        has_label = self._set_name != "test" or definition.test_set_has_labels
        example_id: int | str = index
        if definition.guid_column is not None and self._indices.is_official:
            example_id = cells[definition.guid_column]
        prefix = (
            definition.dev_guid if self._set_name == "dev" else self._set_name
        )
        return InputExample(
            guid=f"{prefix}-{example_id}",
            text_a=cells[columns[0]],
            text_b=cells[columns[1]] if is_pair else None,
            label=self._parse_label(cells) if has_label else None,
        )

    def _parse_label(self, cells: Sequence[str]) -> str | float:
        """Returns GLUE's own name of the label of a line, or a number."""
        column = self._indices.columns[-1]
        place = f"column {column % len(cells) + 1}"
        labels = self._definition.labels
        if labels is None:
            return parse_regression_label(cells[column], place)
        label = glue_layouts.translate_label(
            self._definition.label_of_alias.get(cells[column], cells[column]),
            labels,
            self._definition.hub_labels,
        )
        if label not in labels:
            raise ValueError(
                f"{place}: unknown label {label!r}; the task's labels are "
                f"{[*labels]}"
            )
        return label
