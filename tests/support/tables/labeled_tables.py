r"""Opens a task of labeled texts on the tables that a test writes.

For example:

    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    examples = open_tables(tmp_path).sets.read("train")
"""

from pathlib import Path
from typing import Any

from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_processor import open_table_processor
from data.classification.user_tables.table_tasks import DEFINITION_OF_TABLE_TASK
from data.sets.data_file_options import DataFileOptions
from tests.support.paths import SAMPLES
from tests.support.tables.csv_files import read_csv

TOPICS = SAMPLES / "topics"


def open_tables(
    data_dir: Path | None,
    task_name: str = "csv",
    *,
    data_file: Path | None = None,
    **column_flags: Any,
) -> ClassificationProcessor:
    """Opens a task on the tables of a folder, or on one --data_file."""
    return open_table_processor(
        DEFINITION_OF_TABLE_TASK[task_name],
        data_dir,
        DataFileOptions(data_file=str(data_file) if data_file else None),
        ColumnOptions(**column_flags),
        column_flags,
    )


def read_topics(name: str = "train") -> list[tuple[str, str]]:
    """Returns the texts and labels of a table of the samples."""
    rows = read_csv(TOPICS / f"{name}.csv")
    return [(row["text"], row["label"]) for row in rows]
