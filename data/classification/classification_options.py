"""Defines the flags of run_classifier.py: tables and GLUE."""

import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from command_line import flags
from command_line.path_flags import PathKind
from data.classification import metrics
from data.tables.layout_options import LayoutOptions
from model_folders.model_json_types import OutputMode

XnliLanguage: TypeAlias = Literal[
    "ar",
    "bg",
    "de",
    "el",
    "en",
    "es",
    "fr",
    "hi",
    "ru",
    "sw",
    "th",
    "tr",
    "ur",
    "vi",
    "zh",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableOptions(LayoutOptions):
    """Options for reading a table: its columns and the kind of its labels."""

    text_column: str = flags.training_flag(
        "text",
        "Name of the text's column. With --data_file, usual names are found. "
        "For a table without a header line, set all column flags to numbers, "
        "counted from 1.",
    )
    text_b_column: str | None = flags.training_flag(
        None, "Name of the second text's column, to classify pairs of texts."
    )
    label_column: str = flags.training_flag(
        "label",
        "Name of the label's column. With --data_file, usual names are found. "
        "Or the names of several columns of 0 and 1, separated by commas, one "
        "for each label of a multilabel task.",
    )
    labels: Sequence[str] | None = flags.head_flag(
        None,
        "Names of the labels, in order, separated by commas. By default, they "
        "are the sorted labels of the train set, or the labels that the model "
        "was trained with.",
    )
    output_mode: OutputMode = flags.head_flag(
        "classification",
        "Kind of label: classification = one label for each text, multilabel "
        "= any number of labels, regression = a number.",
        choices=tuple(metrics.METRICS_OF_MODE),
    )
    label_separator: str = flags.head_flag(
        ",",
        "With --output_mode=multilabel, text between two labels in a cell.",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierOptions:
    """Flags for GLUE, text pairs, long texts and class weights."""

    doc_stride: int = flags.head_flag(
        0,
        "Split a long text into windows of --max_seq_length that start this "
        "many WordPieces apart. 0 reads only the text's beginning, as Google's "
        "code does.",
        at_least=0,
    )
    contrastive_temperature: float = flags.training_flag(
        0.05,
        "For --task_name=embedding and a table without scores: divide the "
        "cosines of a batch's texts by this number before the softmax.",
        at_least=1e-3,
    )
    xnli_language: XnliLanguage = flags.head_flag(
        "zh",
        "Language of the texts of --task_name=xnli.",
        choices=get_args(XnliLanguage),
    )
    glue_submission: bool = flags.neutral_flag(
        False,
        "Also write the predictions in the format of GLUE's site. Needs "
        "--do_predict.",
    )
    processor: str | None = flags.training_flag(
        None,
        "FILE.py:CLASS, a class that reads the sets of --data_dir as a "
        "DataProcessor of Google's code does. Replaces --task_name. The code "
        "in the file runs, so only name a file that you trust.",
        kind=PathKind.CODE,
    )
    class_weights: Literal["balanced"] | None = flags.training_flag(
        None,
        "Weights of the classes in the training loss. balanced gives every "
        "class the same total weight.",
        choices=("balanced",),
    )
