"""Defines GLUE's tasks, its submission files and the values of --task_name.

Three of GLUE's tasks (CoLA, MRPC and MultiNLI) are in features.py, because
Google's code also supports them.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from absl import logging

from data.classification import features
from data.classification.decoding import Label
from data.classification.examples import DataProcessor, SplitFilesProcessor
from data.classification.pairs import RankingProcessor
from data.classification.table_task import TableProcessor
from files.atomic import atomic_open
from files.paths import StrPath


class MnliMismatchedProcessor(features.MnliProcessor):
    """MultiNLI, mismatched: does the first text entail the second?

    The genres of the dev and test texts do not occur in the train set.
    """

    set_files = {
        "train": ("train", "train.tsv"),
        "dev": ("dev_mismatched", "dev_mismatched.tsv"),
        "test": ("test", "test_mismatched.tsv"),
    }


class AxProcessor(SplitFilesProcessor):
    """GLUE's diagnostic set (AX), a test set for models trained on MultiNLI."""

    labels = features.MnliProcessor.labels
    set_files = {"test": ("test", "diagnostic.tsv")}
    metrics = ("matthews",)


class QnliProcessor(SplitFilesProcessor):
    """QNLI: does the sentence contain the answer to the question?"""

    labels = ("entailment", "not_entailment")
    text_columns = ("question", "sentence")


class QqpProcessor(SplitFilesProcessor):
    """QQP: do two questions have the same meaning?"""

    text_columns = ("question1", "question2")
    label_column = "is_duplicate"
    metrics = ("f1", "accuracy")
    # A few rows of GLUE's train.tsv contain a line break, so they are read as
    # two lines that are too short.
    drops_short_lines = True


class RteProcessor(SplitFilesProcessor):
    """RTE: does the first text entail the second?"""

    labels = ("entailment", "not_entailment")


class Sst2Processor(SplitFilesProcessor):
    """SST-2: is a sentence of a film review positive?"""

    text_columns = ("sentence",)


class StsbProcessor(SplitFilesProcessor):
    """STS-B: how similar are two sentences, on a scale from 0 to 5?"""

    output_mode = "regression"
    label_column = "score"
    metrics = ("spearman", "pearson")


class WnliProcessor(SplitFilesProcessor):
    """WNLI: does the second sentence follow from the first?"""


# {value of --task_name: (class that reads the task, name of the task's file for
# GLUE's site)}.
_TASKS = {
    "ax": (AxProcessor, "AX.tsv"),
    "cola": (features.ColaProcessor, "CoLA.tsv"),
    "mnli": (features.MnliProcessor, "MNLI-m.tsv"),
    "mnli-mm": (MnliMismatchedProcessor, "MNLI-mm.tsv"),
    "mrpc": (features.MrpcProcessor, "MRPC.tsv"),
    "qnli": (QnliProcessor, "QNLI.tsv"),
    "qqp": (QqpProcessor, "QQP.tsv"),
    "rte": (RteProcessor, "RTE.tsv"),
    "sst-2": (Sst2Processor, "SST-2.tsv"),
    "sts-b": (StsbProcessor, "STS-B.tsv"),
    "wnli": (WnliProcessor, "WNLI.tsv"),
    "xnli": (features.XnliProcessor, None),
}

# {task: names of its labels in Hugging Face's GLUE data set}. Models from
# Hugging Face's hub use these names instead of GLUE's own "0" and "1".
LABEL_WORDS: dict[str, Sequence[str]] = {
    "cola": ("unacceptable", "acceptable"),
    "mrpc": ("not_equivalent", "equivalent"),
    "qqp": ("not_duplicate", "duplicate"),
    "sst-2": ("negative", "positive"),
    "wnli": ("not_entailment", "entailment"),
}

PROCESSORS = {name: processor for name, (processor, _) in _TASKS.items()}
TASK_NAMES = sorted([*PROCESSORS, "csv", "embedding", "ranking"])


def create_processors(options: Any) -> Mapping[str, DataProcessor]:
    """Creates the processors that read the sets of --task_name.

    Args:
        options: the flags of run_classifier.py.

    Returns:
        {suffix of the output files' names: processor}. The suffix of the task's
        own processor is "". For MultiNLI, the result also contains a processor
        for the mismatched sets, with the suffix "_mm".

    Raises:
        ValueError: the task is unknown, or the options for tables are invalid.
    """
    name = options.task_name
    if name not in TASK_NAMES:
        raise ValueError(
            f"--task_name={name} is not a task; use one of "
            f"{', '.join(TASK_NAMES)}"
        )
    if name == "csv":
        return {"": TableProcessor(options.data_dir, options)}
    if name == "ranking":
        return {"": RankingProcessor(options.data_dir, options)}
    if name == "xnli":
        return {"": features.XnliProcessor(options.xnli_language)}
    if name == "mnli":
        return {"": features.MnliProcessor(), "_mm": MnliMismatchedProcessor()}
    return {"": PROCESSORS[name]()}


def submission_file(task_name: str) -> str:
    """Returns the file name that GLUE's site expects for a task's predictions.

    Raises:
        ValueError: the task is not part of GLUE.
    """
    _, file_name = _TASKS.get(task_name, (None, None))
    if file_name is None:
        raise ValueError(
            "GLUE's site accepts predictions only for "
            f"{', '.join(name for name, task in _TASKS.items() if task[1])}. "
            f"Received: task_name={task_name!r}"
        )
    return file_name


def write_submission(
    output_dir: StrPath, task_name: str, predictions: Iterable[Label]
) -> str:
    """Writes a test set's predictions in the format of GLUE's site.

    Args:
        output_dir: folder to write to.
        task_name: name of a task of GLUE.
        predictions: the label (str) of each line of the test set's file. For
            STS-B, the scores (float). The function clips scores to [0, 5].

    Returns:
        path of the written file.

    Raises:
        ValueError: the task is not part of GLUE.
        OSError: the file cannot be written.
    """
    path = os.path.join(output_dir, submission_file(task_name))
    with atomic_open(path) as writer:
        writer.write(b"index\tprediction\n")
        for index, prediction in enumerate(predictions):
            if isinstance(prediction, float):
                prediction = f"{min(max(prediction, 0.0), 5.0):.3f}"
            writer.write(f"{index}\t{prediction}\n".encode())
    logging.info("Wrote the predictions for GLUE's site to %s", path)
    return path
