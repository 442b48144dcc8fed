"""Finds the texts and labels of GLUE's tasks in the files of any mirror.

GLUE's own files are read by the positions and names that Google's code uses.
Mirrors, such as the hub, name the columns in another way, and number labels
that GLUE writes as words.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from absl import logging

from data.classification.glue.glue_tasks import WORDS_OF_LABEL
from data.io.text_files import read_numbered_lines
from data.sets.set_names import BaseSet, find_set_file
from data.tables import tables
from data.tables.rows import NumberedCells
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout, format_of
from files.paths import StrPath

# Names of the columns of a pair in mirrors, in lower case.
_PAIRS: tuple[tuple[str, ...], ...] = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("#1 string", "#2 string"),
    ("text1", "text2"),
    ("text_a", "text_b"),
)
# Names of the columns of a question and a sentence. Nothing shows which one of
# `sentence1` and `sentence2` is the question.
_QUESTIONS: tuple[tuple[str, ...], ...] = (("text1", "text2"),)
# Names of the column of a single text.
_SINGLE_TEXTS: tuple[tuple[str, ...], ...] = (("sentence",), ("text",))
_LABELS = ("label", "gold_label", "is_duplicate", "quality", "score")
# Endings of tables that are read if there is no TSV file.
_OTHER_ENDINGS = (".csv", ".jsonl", ".json", ".parquet", ".xlsx")
_ADVICE = (
    "Name the columns in the first line, or read the table with --task_name=csv"
)

# {word: GLUE's label}. Mirrors use these words too.
_LABEL_OF_WORD = {
    word: str(label)
    for words in WORDS_OF_LABEL.values()
    for label, word in enumerate(words)
}


class ColumnIndices(NamedTuple):
    """The indices of the columns with the texts and the label of a file.

    Attributes:
        columns: index of each text's column, and then of the label's if the
            labels are read.
        has_header: whether the first line names the columns.
        is_official: whether the file has GLUE's own columns, not a mirror's.
    """

    columns: list[int]
    has_header: bool = True
    is_official: bool = True


def find_table_file(
    data_dir: StrPath | None, set_name: BaseSet, file_name: str
) -> str:
    """Returns the path of the set `set_name`, a TSV file or another table.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there are several.
    """
    stem = file_name.removesuffix(".tsv")
    others = [stem + ending for ending in _OTHER_ENDINGS]
    for file_names in ([file_name], others):
        try:
            return find_set_file(data_dir, set_name, file_names)
        except FileNotFoundError:
            continue
    return find_set_file(data_dir, set_name, [file_name, *others])


def read_cells(
    path: str, layout: TableLayout = DEFAULT_LAYOUT
) -> Iterator[NumberedCells]:
    """Yields the cells of each line of a file.

    The first line of a file that is not TSV contains the names of its columns.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is malformed. The message names the line.
    """
    if format_of(path) == "tsv":
        # Do not use the csv module, because quotes are ordinary characters in
        # these TSV files.
        for line_number, line in read_numbered_lines(path, layout.encoding):
            yield NumberedCells(line_number, line.split("\t"))
        return
    names: list[str] = []
    for row in tables.read_rows(path, layout):
        cell_of_column = row.require_cells(path)
        if not names:
            names = [*cell_of_column]
            yield NumberedCells(1, names)
        cells = [cell_of_column.get(name) for name in names]
        yield NumberedCells(
            row.number, ["" if cell is None else str(cell) for cell in cells]
        )


def find_column_indices(
    header: Sequence[str],
    text_columns: Sequence[str | int],
    label_column: str | int | None,
    *,
    has_header: bool,
) -> ColumnIndices:
    """Finds the columns of a file by the names in its first line.

    Args:
        header: the cells of the first line.
        text_columns: GLUE's own columns of the texts, names or indices.
        label_column: GLUE's own column of the labels. None in a set whose
            labels are not read.
        has_header: whether GLUE's own file names the columns.

    Raises:
        ValueError: a column is missing. The message names it.
    """
    names = [cell.strip().lower() for cell in header]
    texts = _find_text_columns(names, text_columns)
    label = _find_label_column(names, label_column)
    # Texts of GLUE's CoLA, which names no columns, may be such names.
    has_named_columns = texts is not None and (has_header or label is not None)
    is_mirror = has_named_columns and texts != [*text_columns]
    if isinstance(text_columns[0], int) and not is_mirror:
        return _create_official_indices(
            text_columns, label_column, has_header=has_header
        )
    if texts is None:
        missing = next(
            column
            for column in text_columns
            if str(column).lower() not in names
        )
        raise _missing_column_error(missing, header)
    if label_column is None:
        return ColumnIndices(texts, is_official=False)
    if label is None:
        is_name = isinstance(label_column, str)
        raise _missing_column_error(
            label_column if is_name else "label", header
        )
    return ColumnIndices([*texts, label], is_official=label_column in header)


def _create_official_indices(
    text_columns: Sequence[str | int],
    label_column: str | int | None,
    *,
    has_header: bool,
) -> ColumnIndices:
    columns = [int(column) for column in text_columns]
    if label_column is not None:
        columns.append(int(label_column))
    return ColumnIndices(columns, has_header)


def _find_text_columns(
    names: Sequence[str], text_columns: Sequence[str | int]
) -> list[int] | None:
    """Returns the indices of the texts' columns, None if no names are usual."""
    official = tuple(str(column) for column in text_columns)
    mirror_columns = _PAIRS if len(official) == 2 else _SINGLE_TEXTS
    if official == ("question", "sentence"):
        mirror_columns = _QUESTIONS
    for columns in (official, *mirror_columns):
        if all(column in names for column in columns):
            return [names.index(column) for column in columns]
    return None


def _find_label_column(
    names: Sequence[str], label_column: str | int | None
) -> int | None:
    for name in (label_column, *_LABELS):
        if name in names:
            return names.index(str(name))
    return None


def _missing_column_error(
    column: str | int, header: Sequence[str]
) -> ValueError:
    return ValueError(
        f"there is no column {column!r}; the columns are "
        f"{', '.join(map(repr, header))[:200]}. {_ADVICE}"
    )


def short_line_error(line: Sequence[str]) -> ValueError:
    """Returns the error of a line without all of GLUE's columns."""
    return ValueError(
        f"the line has too few columns ({len(line)}) for GLUE's own file, and "
        f"the first line does not name them. {_ADVICE}"
    )


def translate_label(
    label: str,
    labels: Sequence[str],
    hub_labels: Sequence[str],
) -> str:
    """Returns GLUE's own name of a label, or the label if it is unknown.

    Examples:
        >>> hub_labels = ["entailment", "not_entailment"]
        >>> translate_label("1", ["entailment", "not_entailment"], hub_labels)
        'not_entailment'
        >>> translate_label("Not equivalent", ["0", "1"], [])
        '0'

    Args:
        label: the label in the file.
        labels: GLUE's labels.
        hub_labels: the labels in the order of their numbers on the hub.
    """
    if label in labels:
        return label
    # pandas writes 1.0 for 1 if a cell of the column is empty.
    digits = label.removesuffix(".0")
    if _is_hub_number(digits) and int(digits) < len(hub_labels):
        return hub_labels[int(digits)]
    word = _LABEL_OF_WORD.get(label.strip().lower().replace(" ", "_"), digits)
    return word if word in labels else label


def _is_hub_number(label: str) -> bool:
    """Returns whether a label is a number of the hub, such as 1 or 1.0."""
    return label.removesuffix(".0").isdecimal()


def log_label_numbers(
    path: str, labels: Iterable[str], hub_labels: Sequence[str]
) -> None:
    """Logs the meaning of a file's labels if they are numbers.

    Args:
        path: the TSV file of the labels, for the message.
        labels: the labels in the file.
        hub_labels: the labels in the order of their numbers on the hub, [] if
            GLUE's own labels are numbers.
    """
    if hub_labels and any(map(_is_hub_number, labels)):
        meaning = ", ".join(
            f"{label_id} as {name}" for label_id, name in enumerate(hub_labels)
        )
        logging.info("%s: read the labels %s, as on the hub", path, meaning)
