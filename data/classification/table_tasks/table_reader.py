"""Reads the tables of a user's own classification or regression task."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)
from data.classification.labels import label_checks
from data.classification.labels.task_labels import labels_of_examples
from data.classification.table_tasks import pair_scores
from data.classification.table_tasks.row_parsing import ParsedRow, RowParser
from data.classification.table_tasks.table_columns import (
    FILES_OF_SET,
    layout_of,
)
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_rows import (
    RowCounts,
    read_labeled_rows,
)
from data.sets.file_sets import SetFile
from data.sets.row_keys import key_of
from data.sets.set_names import BaseSet
from data.tables.tables import Table
from files.paths import StrPath
from model_folders.model_json_types import OutputMode


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableReader:
    """Reads one table of a user's own task. The class is a `RowReader`.

    Flags, or the tables themselves, name the columns and the labels.

    In a test set, the label column may be missing or contain empty cells. The
    example's label is then None. In the other sets, rows without a label are
    left out. In multi-label classification, an empty cell is an empty list of
    labels, and only null is no label.

    Attributes:
        source: value of --data_file or of --data_dir, for messages.
        options: flags of the table.
        output_mode: "classification", "multilabel" or "regression".
        text_columns: column of the text, or the two columns of a pair.
        label_columns: columns that --label_column names, [] for none.
        are_labels_in_rows: whether the rows of the training file name the
            labels. False if flags name them, or in regression.
        data_file_table: the table of --data_file, whose columns the caller may
            have looked at. None with --data_dir.
        has_similar_pairs: whether a row is two texts and, optionally, their
            similarity, as `pair_scores` describes.
        has_queries: whether a row is a query and a passage. All passages of a
            query are then in the same set.
    """

    source: StrPath | None
    options: TableOptions
    output_mode: OutputMode
    text_columns: Sequence[str]
    label_columns: Sequence[str]
    are_labels_in_rows: bool
    data_file_table: Table | None = None
    has_similar_pairs: bool = False
    has_queries: bool = False

    @property
    def file_names(self) -> Mapping[BaseSet, Sequence[str]]:
        """The names that the table of each set may have in a folder."""
        return FILES_OF_SET

    @property
    def key_names(self) -> list[str]:
        """The columns of the texts that decide about the dev set, sorted."""
        if self.has_queries:
            return [self.text_columns[0]]
        return sorted(self.text_columns)

    def read_file(self, file: SetFile) -> list[InputExample]:
        """Reads the examples of a table, and logs which rows are left out.

        Raises:
            OSError: the table cannot be read.
            ValueError: a row is malformed, the table contains no example, or
                no column contains the labels of a train set.
        """
        table = self._open_table(file)
        columns = table.read_column_names()
        examples, counts = _create_examples(self._parse_rows(table, file), file)
        if self._has_similarities(file):
            examples, num_unscored = pair_scores.drop_unscored(examples)
            if num_unscored:
                counts.left_out["a label"] += num_unscored
        counts.log(file.path)
        if not examples:
            raise ValueError(f"{file.path} contains no example")
        self._check_label_column(file, columns, examples)
        return examples

    def collect_labels(
        self, train: Sequence[InputExample], dev: Sequence[InputExample]
    ) -> list[str]:
        """Returns the labels that the rows name, in alphabetical order."""
        return labels_of_examples(
            [*train, *dev], self.output_mode, f"the train set in {self.source}"
        )

    def log_labels(
        self,
        labels: Sequence[str],
        train: Sequence[InputExample],
        dev: Sequence[InputExample],
    ) -> None:
        """Logs how many rows each label has, and warns of strange labels."""
        if not dev:
            # A split has logged the numbers of both sets.
            label_checks.log_label_counts(labels, train)
        label_checks.warn_of_labels(train, dev)
        if self.output_mode == "multilabel":
            label_checks.warn_of_joined_labels(
                f"the train set in {self.source}",
                labels,
                self.options.label_separator,
            )

    def texts_of(self, example: InputExample) -> list[str]:
        """Returns the text, or the two texts of a pair."""
        return [example.text_a, *filter(None, [example.text_b])]

    def labels_of(self, example: InputExample) -> list[str]:
        """Returns the labels, [] in regression or without a label."""
        if self.output_mode == "regression" or example.label is None:
            return []
        return class_names_of(example.label)

    def keys_of(self, examples: Sequence[InputExample]) -> list[str]:
        """Returns the key of each row's texts, or of its query."""
        if self.has_queries:
            return [key_of([example.text_a]) for example in examples]
        return [key_of(self.texts_of(example)) for example in examples]

    def _open_table(self, file: SetFile) -> Table:
        """Opens a table, unless it was opened to look at its columns."""
        if file.is_data_file and self.data_file_table:
            return self.data_file_table
        return Table(file.path, layout_of(self.options))

    def _has_similarities(self, file: SetFile) -> bool:
        """Returns whether all pairs of a file need a score, or none."""
        return self.has_similar_pairs and file.set_name != "test"

    def _check_label_column(
        self,
        file: SetFile,
        columns: Sequence[str],
        examples: Sequence[InputExample],
    ) -> None:
        """Raises a ValueError if another column than the flag's has the labels.

        Args:
            file: the table of the examples.
            columns: names of the table's columns.
            examples: the examples of the table, at least one.
        """
        label_column = self.options.label_column
        if self._has_similarities(file):
            other_columns = {*columns} - {*self.text_columns}
            pair_scores.check_score_column(
                self.source, label_column, other_columns, examples
            )
        if file.set_name == "train" and self.are_labels_in_rows:
            label_checks.check_label_column(file.path, label_column, examples)

    def _parse_rows(self, table: Table, file: SetFile) -> Iterable[ParsedRow]:
        """Yields the rows of a table, with their texts and labels.

        A row is read and parsed only when its example is created, because all
        rows of a large table together take much memory.
        """
        may_lack_labels = file.set_name == "test" or (
            # Only a column that a flag names has to exist.
            self.has_similar_pairs and self.options.label_column == "score"
        )
        rows = read_labeled_rows(
            table,
            self.text_columns,
            self.label_columns,
            may_lack_labels=may_lack_labels,
        )
        parser = RowParser(
            text_columns=self.text_columns,
            label_columns=self.label_columns,
            label_flag=self.options.label_column,
            label_separator=self.options.label_separator,
            output_mode=self.output_mode,
            allowed_labels=file.labels,
            may_lack_text=file.set_name == "test",
            may_lack_label=may_lack_labels or not self.label_columns,
        )
        return map(parser.parse, rows)


def _create_examples(
    parsed_rows: Iterable[ParsedRow], file: SetFile
) -> tuple[list[InputExample], RowCounts]:
    """Returns the examples of a file's rows, and counts of its other rows."""
    examples: list[InputExample] = []
    counts = RowCounts()
    for parsed_row in parsed_rows:
        if parsed_row.lacks:
            counts.left_out[parsed_row.lacks] += 1
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
