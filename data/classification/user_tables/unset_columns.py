"""Guesses the columns of a table of texts and labels that no flag names."""

import shlex
from collections.abc import Mapping, Sequence

from absl import logging

from data.classification.user_tables.column_options import label_columns_of
from data.tables.column_names import (
    USUAL_NAMES,
    find_pair_columns,
    guess_columns,
)
from data.tables.table_layout import format_of
from data.tables.tables import check_columns
from files.paths import StrPath


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
    column left.

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
    return found_columns


def log_columns(
    chosen_columns: Mapping[str, str],
    path: StrPath,
    found_columns: Mapping[str, str],
) -> None:
    """Logs the flags of a table's columns, if any column was found.

    `found_columns` are what `guess_unset_columns` returned for
    `chosen_columns`.
    """
    if not found_columns:
        return
    column_of_flag = {**chosen_columns, **found_columns}
    flags = [f"--{flag}={column}" for flag, column in column_of_flag.items()]
    logging.info("%s: %s", path, " ".join(flags))


def _select_free_columns(
    path: StrPath, columns: Sequence[str], chosen_columns: Mapping[str, str]
) -> list[str]:
    """Returns the columns of a table that no flag names.

    Args:
        path: path of the table, for the error.
        columns: all columns of the table.
        chosen_columns: {flag: its column}.
    """
    used_columns = [
        column
        for flag, column in chosen_columns.items()
        if flag != "label_column"
    ]
    if "label_column" in chosen_columns:
        used_columns += label_columns_of(
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
        text, text_b = pair
        raise ValueError(
            f"{source} contains two columns of texts. To classify pairs, set "
            f"--text_column={shlex.quote(text)} "
            f"--text_b_column={shlex.quote(text_b)}. To classify one text, set "
            "only --text_column"
        )
