"""Finds the columns of the texts and the labels in a user's own table."""

import dataclasses
from typing import Any

from absl import logging

from data.classification.table_task import LABEL_NAMES, TableOptions
from data.io.tables import Layout, read_rows

# Names that tables often use for the column of the texts.
_TEXTS = (
    *("text", "sentence", "message", "content", "review", "comment", "body"),
    *("tweet", "question", "description", "title"),
)


def find_columns(options: TableOptions) -> TableOptions:
    """Finds the columns of --data_file that no flag names.

    The names of the text's and the label's column are common ones, or the last
    name that is left.

    Raises:
        ValueError: a column is not found. The message lists all columns.
        OSError: the file cannot be read.
    """
    given = {
        name: str(options.given_flags[name])
        for name in ("text_column", "text_b_column", "label_column")
        if name in options.given_flags
    }
    if not options.data_file or any(map(str.isdecimal, given.values())):
        return options
    layout = Layout(None, options.quoting, options.delimiter)
    _, row = next(read_rows(options.data_file, layout), (0, {}))
    if isinstance(row, ValueError):
        # `read_table` raises it.
        return options
    used = [x for value in given.values() for x in value.split(",")]
    if wrong := [column for column in used if column not in row]:
        raise ValueError(
            f"--data_file={options.data_file} has no column {wrong[0]!r}; "
            f"the columns are {', '.join(row)}"
        )
    free = [column for column in row if column not in used]
    found: dict[str, Any] = {}
    for flag, names in (("text_column", _TEXTS), ("label_column", LABEL_NAMES)):
        if flag not in given:
            common = [x for n in names for x in free if x.casefold() == n]
            found[flag] = next(iter(common), None)
            free = [column for column in free if column != found[flag]]
    for flag, column in found.items():
        if column is None and len(free) == 1:
            found[flag] = free.pop()
        elif column is None:
            what = flag.removesuffix("_column")
            raise ValueError(
                f"--data_file={options.data_file}: set --{flag} to the column "
                f"of the {what}; the columns are {', '.join(row)}"
            )
    if found:
        logging.info("Columns of %s: %s", options.data_file, given | found)
    return dataclasses.replace(options, **found)
