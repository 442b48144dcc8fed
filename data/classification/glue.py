"""Reads GLUE and XNLI, writes GLUE's submissions, names --task_name's values.

table_task.py reads a user's own tables.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from absl import logging

from data.classification.decoding import Label
from data.classification.features import (
    DataProcessor,
    InputExample,
    regression_label,
)
from data.classification.pairs import PairProcessor, RankingProcessor
from data.classification.table_task import TableProcessor
from data.io.text_files import find_set_file, read_numbered
from files.atomic import atomic_open
from files.paths import StrPath


class SplitFilesProcessor(DataProcessor):
    """Reads a task whose train, dev and test sets are TSV files.

    Attributes:
        labels: names of the labels. Not used in regression.
        set_files: {name of a set: name of its file}.
        dev_guid: first part of the guids of the dev set's examples.
        text_columns: column of the text, or the two columns of a pair. A column
            is a name in the file's first line, or a number, counted from 0.
        label_column: column of the label. A test set may lack this column.
        guid_column: column of the last part of the examples' guids. None = the
            number of the line, counted from 0.
        drops_short_lines: True to skip lines with too few columns and log a
            warning, False to raise an error. If True, a test set's short lines
            are not skipped. Their missing texts become empty texts, because
            GLUE identifies predictions by line.
    """

    labels: tuple[str, ...] = ("0", "1")
    set_files = {name: f"{name}.tsv" for name in ("train", "dev", "test")}
    dev_guid = "dev"
    text_columns: Sequence[str | int] = ("sentence1", "sentence2")
    label_column: str | int = "label"
    guid_column: int | None = None
    drops_short_lines = False

    def get_labels(self) -> list[str] | None:
        """Returns the attribute `labels`, or None in regression."""
        return None if self.output_mode == "regression" else list(self.labels)

    def read_set(self, data_dir: StrPath, name: str) -> list[InputExample]:
        """Reads the set `name` ("train", "dev" or "test") from its TSV file."""
        if name not in self.set_files:
            raise ValueError(f"this task has no {name} set")
        set_type = self.dev_guid if name == "dev" else name
        path = find_set_file(data_dir, name, [self.set_files[name]])
        # Do not use the csv module, because quotes are ordinary characters in
        # these TSV files.
        lines = [line.split("\t") for _, line in read_numbered(path)]
        # Empty lines at the end, which editors may add, are no examples.
        while lines and lines[-1] == [""]:
            lines.pop()
        examples = []
        columns: list[int] = []
        for i, line in enumerate(lines):
            try:
                if not columns:
                    columns = self._find_columns(line, set_type)
                found = self._create_example(i, line, set_type, columns)
            except IndexError:
                raise ValueError(
                    f"{path}, line {i + 1}: the line has too few columns "
                    f"({len(line)}), separated by tabs"
                ) from None
            except ValueError as error:
                raise ValueError(f"{path}, line {i + 1}: {error}") from error
            if found:
                examples.append(found)
        if not examples:
            raise ValueError(f"{path} contains no example")
        num_short = sum(len(line) <= max(columns) for line in lines)
        if self.drops_short_lines and num_short:
            done = "skipped" if name != "test" else "added empty texts to"
            message = "%s: %s %d lines with too few columns"
            logging.warning(message, path, done, num_short)
        return examples

    def _find_columns(self, header: list[str], set_type: str) -> list[int]:
        # Returns the indices of the texts' columns and of the label's.
        names = [*self.text_columns]
        if set_type != "test" or self.label_column in header:
            names.append(self.label_column)
        return [
            header.index(name) if isinstance(name, str) else name
            for name in names
        ]

    def _create_example(
        self, i: int, line: list[str], set_type: str, columns: list[int]
    ) -> InputExample | None:
        # Line 0 is the header.
        if i == 0:
            return None
        if self.drops_short_lines and len(line) <= max(columns):
            if set_type != "test":
                return None
            line = line + [""] * (max(columns) + 1 - len(line))
        is_pair = len(self.text_columns) == 2
        text_a, text_b = line[columns[0]], line[columns[1]] if is_pair else None
        label = self._label(line, None if set_type == "test" else columns[-1])
        name = i if self.guid_column is None else line[self.guid_column]
        return InputExample(f"{set_type}-{name}", text_a, text_b, label)

    def _label(self, line: list[str], column: int | None) -> str | float:
        labels = self.get_labels()
        if column is None:
            # A placeholder in a test set, as in Google's code.
            return labels[0] if labels else 0.0
        label, where = line[column], f"column {column % len(line) + 1}"
        if labels is None:
            return regression_label(label, where)
        if label not in labels:
            raise ValueError(
                f"{where}: unknown label {label!r}; the task's labels are "
                f"{labels}"
            )
        return label


class ColaProcessor(SplitFilesProcessor):
    """CoLA: is the sentence grammatical?"""

    metrics = ("matthews", "eval_accuracy")
    text_columns = (3,)
    label_column = 1

    def _create_example(
        self, i: int, line: list[str], set_type: str, columns: list[int]
    ) -> InputExample | None:
        # In CoLA, only the file of the test set begins with a header line.
        guid = f"{set_type}-{i}"
        if set_type != "test":
            return InputExample(guid, line[3], label=self._label(line, 1))
        return InputExample(guid, line[1], label="0") if i > 0 else None


class MnliProcessor(SplitFilesProcessor):
    """MultiNLI, matched: does the first text entail the second?

    The dev and test texts are of the same genres as the train set.
    """

    labels = ("contradiction", "entailment", "neutral")
    set_files = {
        "train": "train.tsv",
        "dev": "dev_matched.tsv",
        "test": "test_matched.tsv",
    }
    dev_guid = "dev_matched"
    text_columns = (8, 9)
    label_column = -1
    guid_column = 0


class MrpcProcessor(SplitFilesProcessor):
    """MRPC: do the two sentences have the same meaning?"""

    metrics = ("f1", "eval_accuracy")
    text_columns = (3, 4)
    label_column = 0


class XnliProcessor(SplitFilesProcessor):
    """XNLI: does the first text entail the second? Covers 15 languages.

    `language` is the language of the texts, one of `languages`. Google's code
    uses "zh".
    """

    labels = ("contradiction", "entailment", "neutral")
    test_set_has_labels = True
    text_columns = (0, 1)
    label_column = 2

    def __init__(self, language: str = "zh") -> None:
        self.language = language
        self.set_files = {
            "train": f"multinli/multinli.train.{language}.tsv",
            "dev": "xnli.dev.tsv",
            # Google's code does not read XNLI's test set.
            "test": "xnli.test.tsv",
        }

    def _create_example(
        self, i: int, line: list[str], set_type: str, columns: list[int]
    ) -> InputExample | None:
        guid = f"{set_type}-{i}"
        if i == 0:
            return None
        if set_type == "train":
            if line[2] == "contradictory":
                line[2] = "contradiction"
            label = self._label(line, 2)
            return InputExample(guid, line[0], line[1], label)
        if line[0] == self.language:
            return InputExample(guid, line[6], line[7], self._label(line, 1))
        return None


class MnliMismatchedProcessor(MnliProcessor):
    """MultiNLI, mismatched: does the first text entail the second?

    The genres of the dev and test texts do not occur in the train set.
    """

    set_files = {
        "train": "train.tsv",
        "dev": "dev_mismatched.tsv",
        "test": "test_mismatched.tsv",
    }
    dev_guid = "dev_mismatched"


class AxProcessor(SplitFilesProcessor):
    """GLUE's diagnostic set (AX), a test set for models trained on MultiNLI."""

    labels = MnliProcessor.labels
    set_files = {"test": "diagnostic.tsv"}
    metrics = ("matthews",)


class QnliProcessor(SplitFilesProcessor):
    """QNLI: does the sentence contain the answer to the question?"""

    labels = ("entailment", "not_entailment")
    text_columns = ("question", "sentence")


class QqpProcessor(SplitFilesProcessor):
    """QQP: do two questions have the same meaning?"""

    text_columns = ("question1", "question2")
    label_column = "is_duplicate"
    metrics = ("f1", "eval_accuracy")
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


PROCESSORS: dict[str, type[SplitFilesProcessor]] = {
    "ax": AxProcessor,
    "cola": ColaProcessor,
    "mnli": MnliProcessor,
    "mnli-mm": MnliMismatchedProcessor,
    "mrpc": MrpcProcessor,
    "qnli": QnliProcessor,
    "qqp": QqpProcessor,
    "rte": RteProcessor,
    "sst-2": Sst2Processor,
    "sts-b": StsbProcessor,
    "wnli": WnliProcessor,
    "xnli": XnliProcessor,
}
# {task: name of its file for GLUE's site}, if it is not the task's in capitals.
_SUBMISSIONS = {"cola": "CoLA", "mnli": "MNLI-m", "mnli-mm": "MNLI-mm"}

# {task: names of its labels in Hugging Face's GLUE data set}. Models from
# Hugging Face's hub use these names instead of GLUE's own "0" and "1".
LABEL_WORDS: dict[str, Sequence[str]] = {
    "cola": ("unacceptable", "acceptable"),
    "mrpc": ("not_equivalent", "equivalent"),
    "qqp": ("not_duplicate", "duplicate"),
    "sst-2": ("negative", "positive"),
    "wnli": ("not_entailment", "entailment"),
}

# {task: class that reads a user's own tables}.
_TABLES = {
    "csv": TableProcessor,
    "embedding": PairProcessor,
    "ranking": RankingProcessor,
}
TASK_NAMES = sorted([*PROCESSORS, *_TABLES])


def create_processors(options: Any) -> Mapping[str, DataProcessor]:
    """Creates the processors that read the sets of --task_name.

    Returns {suffix of the output files' names: processor}. The suffix is "", or
    for the mismatched sets of MultiNLI "_mm".
    """
    name = options.task_name
    if name not in TASK_NAMES:
        raise ValueError(
            f"--task_name={name} is not a task; use one of "
            f"{', '.join(TASK_NAMES)}"
        )
    source = options.data_file or options.data_dir
    if name in _TABLES:
        return {"": _TABLES[name](source, options)}
    if name == "xnli":
        return {"": XnliProcessor(options.xnli_language)}
    if name == "mnli":
        return {"": MnliProcessor(), "_mm": MnliMismatchedProcessor()}
    return {"": PROCESSORS[name]()}


def submission_file(task_name: str) -> str:
    """Returns the file name that GLUE's site expects for a task's predictions.

    Raises a ValueError if the task is not part of GLUE.
    """
    if task_name == "xnli" or task_name not in PROCESSORS:
        raise ValueError(f"--glue_submission is not for {task_name}")
    return f"{_SUBMISSIONS.get(task_name, task_name.upper())}.tsv"


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
