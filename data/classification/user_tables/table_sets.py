"""Reads the sets of a user's own tables, and holds them.

row_parsing.py finds the texts and the label of each row.
"""

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from absl import logging

from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)
from data.classification.classification_processor import ClassificationSets
from data.classification.similarity import pair_scores
from data.classification.user_tables import task_labels
from data.classification.user_tables.column_options import ColumnOptions
from data.classification.user_tables.row_parsing import ParsedRow, RowParser
from data.classification.user_tables.table_tasks import TableTaskDefinition
from data.sets.data_file_options import DataFileOptions
from data.sets.file_sets import FileSets, SetFile
from data.sets.set_names import BASE_SETS, BaseSet
from data.sets.text_keys import key_of
from data.tables.prodigy import read_accepted_rows
from data.tables.tables import Table, read_table
from files.paths import StrPath
from model_folders import output_modes
from model_folders.output_modes import OutputMode

_ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")
# {set: names that its table may have in --data_dir}.
FILES_OF_SET: Mapping[BaseSet, Sequence[str]] = {
    name: [f"{name}{ending}" for ending in _ENDINGS] for name in BASE_SETS
}


class TableSets(FileSets[InputExample], ClassificationSets):
    """The sets of a user's own tables, which are read when they are needed.

    Flags, or the tables themselves, name the columns and the labels. A label in
    the dev or test set must be a label of the task. Unless --labels names the
    labels, the train set is therefore read before another set.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. In the other sets, rows without a label are
    left out. In multi-label classification, an empty cell is an empty list of
    labels, and only null is no label.

    Args:
        definition: how the task differs from others of tables.
        options: the columns, and the labels if flags name them.
        label_columns: columns that --label_column names, [] for none.
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        data_file_table: --data_file, whose header may have been read, None with
            --data_dir.

    Attributes:
        output_mode: "classification", "multilabel" or "regression".
        text_columns: column of the text, or the two columns of a pair.

    Raises:
        ValueError: flags contradict each other.
    """

    file_names = FILES_OF_SET

    def __init__(
        self,
        definition: TableTaskDefinition,
        options: ColumnOptions,
        label_columns: Sequence[str],
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        data_file_table: Table | None,
    ) -> None:
        # Several columns contain 0 or 1, one for each label.
        is_one_hot = len(label_columns) > 1
        self.output_mode: OutputMode = (
            output_modes.MULTILABEL if is_one_hot else options.output_mode
        )
        labels = task_labels.labels_of_flags(
            options.labels, self.output_mode, label_columns
        )
        super().__init__(
            data_dir,
            data_file_options,
            labels,
            are_labels_in_rows=(
                labels is None and self.output_mode != output_modes.REGRESSION
            ),
            has_repetition_warning=True,
        )
        self.text_columns = options.text_columns()
        self._definition = definition
        self._options = options
        self._label_columns = label_columns
        self._data_file_table = data_file_table

    @property
    def file_sets(self) -> FileSets[InputExample]:
        """These sets, which --data_file may contain."""
        return self

    @property
    def key_names(self) -> list[str]:
        """The columns of the texts that decide about the dev set, sorted."""
        if self._definition.is_split_by_first_text:
            return [self.text_columns[0]]
        return sorted(self.text_columns)

    def read_examples(self, file: SetFile) -> list[InputExample]:
        """Reads the examples of a table, and logs which rows are left out.

        Raises:
            OSError: the table cannot be read.
            ValueError: a row is malformed, the table contains no example, or
                no column contains the labels of a train set.
        """
        table = self._data_file_table if file.is_data_file else None
        if table is None:
            table = Table(file.path, self._options.layout_for_columns())
        columns = table.read_column_names()
        examples, counts = _create_examples(self._parse_rows(table, file), file)
        if self._may_lack_scores(file):
            examples, num_unscored = pair_scores.drop_unscored(examples)
            counts.leave_out("a label", num_unscored)
        counts.log(file.path)
        if not examples:
            raise ValueError(f"{file.path} contains no example")
        self._check_label_column(file, columns, examples)
        return examples

    def collect_labels(
        self, train: Sequence[InputExample], dev: Sequence[InputExample]
    ) -> list[str]:
        """Returns the labels that the rows name, in alphabetical order."""
        return task_labels.labels_of_examples(
            [*train, *dev], self.output_mode, f"the train set in {self.source}"
        )

    def log_labels(self) -> None:
        """Logs how many rows each label has, and warns of strange labels.

        Logs nothing if flags name the labels, or in regression.
        """
        labels = self.read_labels()
        if labels is None or not self.are_labels_in_rows:
            return
        train, dev = self.read_training_sets()
        if not dev:
            # A split has logged the numbers of both sets.
            task_labels.log_label_counts(labels, train)
        task_labels.warn_of_labels(train, dev)
        if self.output_mode == output_modes.MULTILABEL:
            task_labels.warn_of_joined_labels(
                f"the train set in {self.source}",
                labels,
                self._options.label_separator,
            )

    def labels_of(self, example: InputExample) -> list[str]:
        """Returns the labels, [] in regression or without a label."""
        if self.output_mode == output_modes.REGRESSION or example.label is None:
            return []
        return class_names_of(example.label)

    def keys_of(self, examples: Sequence[InputExample]) -> list[str]:
        """Returns the key of each row's texts, or of its first text."""
        if self._definition.is_split_by_first_text:
            return [key_of([example.text_a]) for example in examples]
        return super().keys_of(examples)

    def _may_lack_scores(self, file: SetFile) -> bool:
        """Returns whether the pairs of a file may have no scores at all."""
        return self._definition.may_lack_scores and file.set_name != "test"

    def _check_label_column(
        self,
        file: SetFile,
        columns: Sequence[str],
        examples: Sequence[InputExample],
    ) -> None:
        """Checks that the label column contains the labels.

        Args:
            file: the table of the examples.
            columns: names of the table's columns.
            examples: the examples of the table, at least one.

        Raises:
            ValueError: another column seems to contain the labels or the
                scores.
        """
        label_column = self._options.label_column
        if self._may_lack_scores(file):
            other_columns = {*columns} - {*self.text_columns}
            pair_scores.check_score_column(
                self.source, label_column, other_columns, examples
            )
        if file.set_name == "train" and self.are_labels_in_rows:
            task_labels.check_label_column(file.path, label_column, examples)

    def _parse_rows(self, table: Table, file: SetFile) -> Iterable[ParsedRow]:
        """Yields the rows of a table, with their texts and labels.

        A row is read and parsed only when its example is created, because all
        rows of a large table together take much memory.
        """
        needs_labels = self._needs_labels(file)
        required_columns = self._label_columns if needs_labels else []
        rows = read_accepted_rows(
            table.path,
            read_table(
                table,
                self.text_columns,
                required_columns,
                fills_later_rows=True,
            ),
            columns_of_flags=[*self.text_columns, *self._label_columns],
        )
        parser = RowParser(
            text_columns=self.text_columns,
            label_columns=self._label_columns,
            label_flag=self._options.label_column,
            label_separator=self._options.label_separator,
            output_mode=self.output_mode,
            allowed_labels=file.labels,
            needs_text=file.set_name != "test",
            needs_label=needs_labels,
        )
        return map(parser.parse, rows)

    def _needs_labels(self, file: SetFile) -> bool:
        """Returns whether each row of a file needs a label."""
        if file.set_name == "test" or not self._label_columns:
            return False
        column = self._options.label_column
        return not self._definition.may_lack_column(column)


@dataclasses.dataclass
class _RowCounts:
    """Numbers of rows of a set that were left out or changed, for the log.

    Attributes:
        left_out: {what a row lacks: number of rows that are left out}.
        num_respelled: number of rows whose labels were brought to one spelling.
    """

    left_out: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    num_respelled: int = 0

    def leave_out(self, lack: str, num_rows: int = 1) -> None:
        """Counts rows that are left out. `lack` is what they lack."""
        if num_rows:
            self.left_out[lack] += num_rows

    def log(self, path: StrPath) -> None:
        """Logs the numbers that are not 0. `path` is that of the table."""
        if self.left_out:
            descriptions = [
                f"{num_rows} rows without {lack}"
                for lack, num_rows in self.left_out.items()
            ]
            logging.warning(
                "%s: %s left out", path, " left out, ".join(descriptions)
            )
        if self.num_respelled:
            logging.info(
                "%s: %d labels brought to one spelling of blanks and accents",
                path,
                self.num_respelled,
            )


def _create_examples(
    parsed_rows: Iterable[ParsedRow], file: SetFile
) -> tuple[list[InputExample], _RowCounts]:
    """Returns the examples of a file's rows, and counts of its other rows."""
    examples: list[InputExample] = []
    counts = _RowCounts()
    for parsed_row in parsed_rows:
        if parsed_row.lacks:
            counts.leave_out(parsed_row.lacks)
            continue
        counts.num_respelled += parsed_row.is_respelled
        table_row = parsed_row.table_row
        guid = f"{file.set_name}-{len(examples) + 1}"
        if file.is_data_file:
            guid = f"row {table_row.spreadsheet_number}"
        text_a, *other_texts = parsed_row.texts
        examples.append(
            InputExample(
                guid=guid,
                text_a=text_a,
                text_b=other_texts[0] if other_texts else None,
                label=parsed_row.label,
                row=table_row.cells if file.keeps_rows else None,
            )
        )
    return examples, counts
