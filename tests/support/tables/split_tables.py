"""Lets a task split the rows of one table into a train set and a dev set.

For example:

    train, dev = split_rows(tmp_path, read_topics())
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from data.classification.user_tables.column_options import ColumnOptions
from data.classification.user_tables.user_table_processor import (
    open_table_processor,
)
from data.classification.user_tables.user_table_tasks import SPEC_OF_TABLE_TASK
from data.sets.data_file_split import DataFileOptions
from tests.support.paths import SAMPLES
from tests.support.tables.csv_files import read_csv, write_csv

TOPICS = SAMPLES / "topics"


def read_topics(name: str = "train") -> list[tuple[str, str]]:
    """Returns the texts and labels of a table of the samples."""
    rows = read_csv(TOPICS / f"{name}.csv")
    return [(row["text"], row["label"]) for row in rows]


def split_rows(
    folder: Path,
    rows: Iterable[Sequence[object]],
    fraction: float = 0.2,
    task: str = "csv",
    names: Sequence[str] = ("text", "label"),
    **flags: Any,
) -> tuple[list[tuple[str, ...]], ...]:
    """Returns the texts of the examples in the (train, dev) sets of rows."""
    path = folder / "table.csv"
    write_csv(path, names, rows)
    processor = open_table_processor(
        SPEC_OF_TABLE_TASK[task],
        None,
        DataFileOptions(data_file=str(path), dev_fraction=fraction),
        ColumnOptions(**flags),
        frozenset(flags),
    )
    train, dev = processor.read("train"), processor.read("dev")
    texts_of = processor.file_sets.reader.texts_of
    return tuple(
        [tuple(texts_of(example)) for example in examples]
        for examples in (train, dev)
    )
