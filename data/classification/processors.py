"""The processor of each task of run_classifier.py, by its name."""

import os
from collections.abc import Mapping

from data.classification import glue
from data.classification.examples import DataProcessor
from data.classification.table_task import TableOptions, TableProcessor

NAMES = sorted([*glue.PROCESSORS, "csv"])


def create_processors(
    task_name: str,
    data_dir: str | os.PathLike[str],
    table: TableOptions,
    xnli_language: str = "zh",
) -> Mapping[str, DataProcessor]:
    """Returns a task's processors by the suffix of their output files.

    Args:
        task_name: one of NAMES, in lower or upper case.
        data_dir: folder of the task's files.
        table: TableOptions of the task "csv".
        xnli_language: see XnliProcessor.

    Raises:
        ValueError: there is no such task, or the table's options contradict
            each other.
    """
    name = task_name.lower()
    if name not in NAMES:
        raise ValueError(
            f"--task_name={task_name} is not known; give one of "
            f"{', '.join(NAMES)}"
        )
    if name == "csv":
        return {"": TableProcessor(data_dir, table)}
    return glue.create_processors(name, xnli_language)
