"""Flags of run_classifier.py: its tasks, and a user's own tables.

Those of tables fill table_task.TableOptions.
"""

import dataclasses

from absl import flags

from data.classification import features, processors, table_task


@dataclasses.dataclass(frozen=True)
class ClassifierOptions:
    """The task's own flags; those of tables are table_task.TableOptions."""

    task_name: str
    xnli_language: str = "zh"
    glue_submission: bool = False
    class_weights: str | None = None
    report: bool = False


def define_task_flags() -> None:
    """Defines the task and its extra outputs."""
    flags.DEFINE_string(
        "task_name",
        None,
        f"One of {', '.join(processors.NAMES)}; csv is your own train, dev "
        "and test files, .csv, .tsv or .jsonl.",
    )
    flags.DEFINE_enum(
        "xnli_language",
        "zh",
        features.XnliProcessor.languages,
        "XNLI's language.",
    )
    flags.DEFINE_bool(
        "glue_submission",
        False,
        "Also write the predictions in GLUE's submission format.",
    )
    flags.DEFINE_string(
        "class_weights",
        None,
        "Class weights in the training loss: balanced, so that every class "
        'has equal total weight, or a JSON file, {"label": weight}.',
    )
    flags.DEFINE_bool(
        "report",
        False,
        "Write report.html about the dev set: confusion matrix, calibration, "
        "the scores of each label and the most confident errors; in "
        "regression, a scatter plot.",
    )


def define_table_flags() -> None:
    """Defines how the tables of --task_name=csv are read."""
    flags.DEFINE_string(
        "text_column",
        "text",
        "Column of the text. If all columns are given by number, from 1, the "
        "table has no header line.",
    )
    flags.DEFINE_string(
        "text_b_column", None, "Column of the second text of a pair."
    )
    flags.DEFINE_string("label_column", "label", "Column of the label.")
    flags.DEFINE_string(
        "id_column",
        None,
        "Column that names each example in the predictions; by default they "
        "are numbered.",
    )
    flags.DEFINE_list(
        "labels",
        None,
        "The labels in order; by default those of the train set, sorted, or "
        "those that the model was trained with.",
    )
    flags.DEFINE_enum(
        "output_mode",
        "classification",
        table_task.OUTPUT_MODES,
        "One label each; any number of labels; or a number.",
    )
    flags.DEFINE_string(
        "label_separator", ",", "Separates the labels in a multilabel cell."
    )
    flags.DEFINE_bool(
        "quoting",
        True,
        'Treat " as a quote; otherwise as an ordinary character.',
    )
