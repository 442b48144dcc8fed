"""Defines the flags of run_classifier.py that no other command has."""

import dataclasses
from typing import Literal, TypeAlias, get_args

from command_line import flags
from command_line.path_flags import PathKind

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
class ClassifierFlags:
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
