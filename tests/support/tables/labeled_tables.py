"""Reads or splits tables of labeled texts, which a test writes, as a task does.

For example:

    labels = labels_of(tmp_path, "train.csv", "text,label\\na,x\\n")
    train, dev = split_rows(tmp_path, read_topics())
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_processor import open_table_processor
from data.classification.user_tables.table_tasks import DEFINITION_OF_TABLE_TASK
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import HeldSets
from data.sets.set_names import base_set_of
from tests.support.paths import SAMPLES
from tests.support.tables.csv_files import read_csv, write_csv

TOPICS = SAMPLES / "topics"


def create_processor(
    folder: Path, data_file: str | None = None, **kwargs: Any
) -> ClassificationProcessor:
    """Returns the processor of a folder's tables, or of one --data_file."""
    data = DataFileOptions(data_file=data_file)
    options = ColumnOptions(**kwargs)
    return open_table_processor(
        DEFINITION_OF_TABLE_TASK["csv"], folder, data, options, {}
    )


def open_task_processor(
    task_name: str, folder: Path, **flags: Any
) -> ClassificationProcessor:
    """Returns the processor of a task, with flags that the user set."""
    return open_table_processor(
        DEFINITION_OF_TABLE_TASK[task_name],
        folder,
        DataFileOptions(),
        ColumnOptions(**flags),
        flags,
    )


def read_examples(
    folder: Path, name: str, text: str | list[object], **kwargs: Any
) -> list[tuple[Any, ...]]:
    """Writes a table, and returns the contents of its examples.

    A text that is a list becomes lines of JSON.
    """
    if isinstance(text, list):
        text = "\n".join(map(json.dumps, text))
    (folder / name).write_bytes(text.encode())
    processor = create_processor(folder, **kwargs)
    examples = processor.sets.read(base_set_of(name.partition(".")[0]))
    return [
        (example.guid, example.text_a, example.text_b, example.label)
        for example in examples
    ]


def labels_of(
    folder: Path, name: str, text: str | list[object], **kwargs: Any
) -> list[Any]:
    """Writes a table, and returns the labels of its examples."""
    return [label for *_, label in read_examples(folder, name, text, **kwargs)]


def write_train_set(
    folder: Path, text: str, **kwargs: Any
) -> HeldSets[InputExample]:
    """Writes train.csv, and returns the sets of the folder, not yet read."""
    (folder / "train.csv").write_text(text)
    return create_processor(folder, **kwargs).sets


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
        DEFINITION_OF_TABLE_TASK[task],
        None,
        DataFileOptions(data_file=str(path), dev_fraction=fraction),
        ColumnOptions(**flags),
        flags,
    )
    train, dev = processor.sets.read("train"), processor.sets.read("dev")
    return tuple(
        [tuple(example.texts) for example in examples]
        for examples in (train, dev)
    )
