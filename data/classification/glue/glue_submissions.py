"""Writes predictions in the format of GLUE's site."""

import os
from collections.abc import Iterable

from absl import logging

from data.classification.classification_examples import Label
from data.classification.glue import glue_tasks
from files.atomic import atomic_open
from files.paths import StrPath

# {task: name of its file for GLUE's site}, if it is not the task's in capitals.
_SUBMISSION_OF_TASK = {"cola": "CoLA", "mnli": "MNLI-m", "mnli-mm": "MNLI-mm"}


def submission_file(task_name: str) -> str:
    """Returns the file name that GLUE's site expects for a task's predictions.

    Raises:
        ValueError: the task is not part of GLUE.
    """
    if task_name == "xnli" or task_name not in glue_tasks.SPEC_OF_TASK:
        raise ValueError(f"--glue_submission is not for {task_name}")
    return f"{_SUBMISSION_OF_TASK.get(task_name, task_name.upper())}.tsv"


def write_submission(
    output_dir: StrPath, task_name: str, predictions: Iterable[Label]
) -> None:
    """Writes a test set's predictions in the format of GLUE's site.

    `predictions` contains the label (str) of each line of the test set's file.
    For STS-B, it contains scores (float), which are clipped to [0, 5].
    """
    path = os.path.join(output_dir, submission_file(task_name))
    with atomic_open(path) as writer:
        writer.write(b"index\tprediction\n")
        for index, prediction in enumerate(predictions):
            if isinstance(prediction, float):
                prediction = f"{min(max(prediction, 0.0), 5.0):.3f}"
            writer.write(f"{index}\t{prediction}\n".encode())
    logging.info("Wrote the predictions for GLUE's site to %s", path)
