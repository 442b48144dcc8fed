"""Describes the tasks of GLUE, and XNLI: files, columns, labels and metrics.

glue_processor.py reads these files.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from data.classification.classification_processor import TaskDefinition
from data.sets.set_names import BaseSet
from model_folders.output_modes import CLASSIFICATION, REGRESSION, OutputMode


@dataclasses.dataclass(frozen=True, kw_only=True)
class GlueTaskDefinition(TaskDefinition):
    """Describes a task whose train, dev and test sets are TSV files.

    Attributes:
        labels: names of the labels, None in regression.
        train_file: name of the train set's file.
        other_files: name of the dev and the test set's file. {} stands for
            "dev" or "test".
        dev_guid: first part of the guids of the dev set's examples.
        text_columns: column of the text, or the two columns of a pair. A column
            is a name in the file's first line, or a number, counted from 0.
        label_column: column of the label. A test set may lack this column.
        columns_of_set: {set: columns of the texts and of the label}, numbers
            counted from 0, if no file of a mirror is read. If None,
            the first line of a file shows where `text_columns` and
            `label_column` are.
        has_header: False if only the test set's file begins with a header line,
            and contains a text in column 1.
        guid_column: column of the last part of the examples' guids. If None,
            it is the number of the line, counted from 0.
        language: language of the dev and the test set, which contain other
            languages too. The first cell of a line is its language. If None,
            all lines are read.
        hub_labels: names of the labels in the order in which Hugging Face's
            GLUE data set numbers them, () if GLUE's own files number them too.
        label_of_alias: {other name in the files: name of the label}.
        test_set_has_labels: whether the file of the test set contains labels.
        drops_short_lines: True to skip lines with too few columns and log a
            warning, False to raise an error. If True, a test set's short lines
            are not skipped. Their missing texts become empty texts, because
            GLUE identifies predictions by line.
        output_mode: "classification", or "regression" for STS-B.
        mismatched: the same task with texts of other genres, as further dev and
            test sets. None if there are no such sets.
    """

    labels: Sequence[str] | None = ("0", "1")
    train_file: str = "train.tsv"
    other_files: str = "{}.tsv"
    dev_guid: str = "dev"
    text_columns: Sequence[str | int] = ("sentence1", "sentence2")
    label_column: str | int = "label"
    columns_of_set: Mapping[BaseSet, Sequence[int]] | None = None
    has_header: bool = True
    guid_column: int | None = None
    language: str | None = None
    hub_labels: Sequence[str] = ()
    label_of_alias: Mapping[str, str] = dataclasses.field(default_factory=dict)
    test_set_has_labels: bool = False
    drops_short_lines: bool = False
    output_mode: OutputMode = CLASSIFICATION
    mismatched: "GlueTaskDefinition | None" = None

    @property
    def may_be_of_mirror(self) -> bool:
        """Whether files of mirrors, with other columns, are read too."""
        return self.columns_of_set is None

    def file_of_set(self, set_name: BaseSet) -> str:
        """Returns the name of a set's file."""
        if set_name == "train":
            return self.train_file
        return self.other_files.format(set_name)


# Names of the labels of natural language inference, in GLUE and XNLI.
_NLI_LABELS = ("contradiction", "entailment", "neutral")
_ENTAILMENT_LABELS = ("entailment", "not_entailment")
# MultiNLI, mismatched: does the first text entail the second? The dev and test
# texts are of genres that do not occur in the train set.
_MNLI_MISMATCHED = GlueTaskDefinition(
    labels=_NLI_LABELS,
    other_files="{}_mismatched.tsv",
    dev_guid="dev_mismatched",
    text_columns=(8, 9),
    label_column=-1,
    guid_column=0,
    hub_labels=("entailment", "neutral", "contradiction"),
)


def define_xnli(language: str) -> GlueTaskDefinition:
    """Describes XNLI: MultiNLI's task in 15 languages.

    `language` is the language of the texts. Google's code uses "zh", and does
    not read the test set.
    """
    return GlueTaskDefinition(
        labels=_NLI_LABELS,
        train_file=f"multinli/multinli.train.{language}.tsv",
        other_files="xnli.{}.tsv",
        columns_of_set={
            "train": [0, 1, 2],
            "dev": [6, 7, 1],
            "test": [6, 7, 1],
        },
        language=language,
        label_of_alias={"contradictory": "contradiction"},
        test_set_has_labels=True,
    )


# {task: what it consists of}.
DEFINITION_OF_TASK: dict[str, GlueTaskDefinition] = {
    # GLUE's diagnostic set, a test set for models trained on MultiNLI.
    "ax": GlueTaskDefinition(
        labels=_NLI_LABELS,
        other_files="diagnostic.tsv",
        metrics=("matthews",),
    ),
    # Is the sentence grammatical?
    "cola": GlueTaskDefinition(
        text_columns=(3,),
        label_column=1,
        has_header=False,
        metrics=("matthews", "eval_accuracy"),
    ),
    # MultiNLI, matched: the genres are those of the train set.
    "mnli": dataclasses.replace(
        _MNLI_MISMATCHED,
        other_files="{}_matched.tsv",
        dev_guid="dev_matched",
        mismatched=_MNLI_MISMATCHED,
    ),
    "mnli-mm": _MNLI_MISMATCHED,
    # Do the two sentences have the same meaning?
    "mrpc": GlueTaskDefinition(
        text_columns=(3, 4), label_column=0, metrics=("f1", "eval_accuracy")
    ),
    # Does the sentence contain the answer to the question?
    "qnli": GlueTaskDefinition(
        labels=_ENTAILMENT_LABELS,
        text_columns=("question", "sentence"),
        hub_labels=_ENTAILMENT_LABELS,
    ),
    # Do two questions have the same meaning? A few rows of GLUE's train.tsv
    # contain a line break, so they are read as two lines that are too short.
    "qqp": GlueTaskDefinition(
        text_columns=("question1", "question2"),
        label_column="is_duplicate",
        metrics=("f1", "eval_accuracy"),
        drops_short_lines=True,
    ),
    # Does the first text entail the second?
    "rte": GlueTaskDefinition(
        labels=_ENTAILMENT_LABELS, hub_labels=_ENTAILMENT_LABELS
    ),
    # Is a sentence of a film review positive?
    "sst-2": GlueTaskDefinition(text_columns=("sentence",)),
    # How similar are two sentences, on a scale from 0 to 5?
    "sts-b": GlueTaskDefinition(
        labels=None,
        output_mode=REGRESSION,
        label_column="score",
        metrics=("spearman", "pearson"),
    ),
    # Does the second sentence follow from the first?
    "wnli": GlueTaskDefinition(),
    "xnli": define_xnli("zh"),
}


def define_task(task_name: str, xnli_language: str) -> GlueTaskDefinition:
    """Returns the definition of a task.

    `xnli_language` is the language of XNLI, which other tasks lack.
    """
    if DEFINITION_OF_TASK[task_name].language is not None:
        return define_xnli(xnli_language)
    return DEFINITION_OF_TASK[task_name]


# {task: names of its labels in Hugging Face's GLUE data set}. Models from
# Hugging Face's hub use these names instead of GLUE's own "0" and "1".
WORDS_OF_LABEL: dict[str, Sequence[str]] = {
    "cola": ("unacceptable", "acceptable"),
    "mrpc": ("not_equivalent", "equivalent"),
    "qqp": ("not_duplicate", "duplicate"),
    "sst-2": ("negative", "positive"),
    "wnli": ("not_entailment", "entailment"),
}
# {task: name of its file for GLUE's site}, if it is not the task's in capitals.
_SUBMISSION_OF_TASK = {"cola": "CoLA", "mnli": "MNLI-m", "mnli-mm": "MNLI-mm"}


def submission_file(task_name: str) -> str:
    """Returns the file name that GLUE's site expects for a task's predictions.

    Raises:
        ValueError: the task is not part of GLUE.
    """
    definition = DEFINITION_OF_TASK.get(task_name)
    if definition is None or definition.language is not None:
        raise ValueError(f"--glue_submission is not for {task_name}")
    return f"{_SUBMISSION_OF_TASK.get(task_name, task_name.upper())}.tsv"
