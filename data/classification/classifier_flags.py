"""Defines and checks the flags that are specific to run_classifier.py."""

import collections
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from absl import logging

from data.classification import glue
from data.classification.features import InputExample
from data.classification.table_task import TableOptions
from files import flags

# Flags that --task_name=embedding does not use.
_NOT_EMBEDDING = {
    *("bilstm", "class_weights", "doc_stride", "labels", "output_mode"),
    "report",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierOptions(TableOptions):
    """Flags for GLUE, text pairs, long texts, class weights and reports."""

    doc_stride: int = flags.head(
        0,
        "Split a long text into windows of --max_seq_length that start this "
        "many WordPieces apart. 0 reads only the text's beginning, as Google's "
        "code does.",
        at_least=0,
    )
    contrastive_temperature: float = flags.training(
        0.05,
        "For --task_name=embedding and a table without scores: divide the "
        "cosines of a batch's texts by this number before the softmax.",
        at_least=1e-3,
    )
    xnli_language: str = flags.head(
        "zh",
        "Language of the texts of --task_name=xnli.",
        choices=glue.XnliProcessor.languages,
    )
    glue_submission: bool = flags.neutral(
        False,
        "Also write the predictions in the format of GLUE's site. Needs "
        "--do_predict.",
    )
    class_weights: str | None = flags.training(
        None,
        "Weights of the classes in the training loss. balanced gives every "
        "class the same total weight.",
        choices=("balanced",),
    )
    report: bool = flags.neutral(
        False,
        "Write report.html about the dev set. It counts what is right "
        "and wrong, and shows the worst predictions first.",
    )


def check(options: Any) -> None:
    """Checks that the flags of run_classifier.py do not contradict each other.

    Raises:
        ValueError: two flags contradict each other. The message names them.
    """
    name, size = options.task_name, options.max_seq_length - 2
    if options.doc_stride > size:
        raise ValueError(
            f"--doc_stride={options.doc_stride} would skip WordPieces, because "
            f"--max_seq_length={options.max_seq_length} leaves {size} of them "
            "for the text; set a smaller --doc_stride"
        )
    if options.glue_submission:
        glue.submission_file(name)
    if options.report and not options.do_eval:
        raise ValueError("--report needs --do_eval")
    # GLUE and XNLI define their columns and labels.
    fields = dataclasses.fields(TableOptions)
    columns = {field.name for field in fields if field.metadata}
    unused = {
        "csv": set(),
        "embedding": _NOT_EMBEDDING,
        "ranking": {"labels", "output_mode"},
    }.get(name, columns)
    if found := sorted(unused & options.given_flags.keys()):
        raise ValueError(
            f"--{found[0]} is not used by --task_name={name}; remove the flag"
        )


def balance_classes(
    labels: Sequence[str], examples: Iterable[InputExample]
) -> dict[str, float]:
    """Returns {label: weight of its class in the training loss}.

    The weight of a class with n examples is N / (L * n), for N examples and L
    labels in total. So the weights of the examples of each class add up to
    N / L.
    """
    counts = collections.Counter(example.label for example in examples)
    weights = {
        name: counts.total() / (len(labels) * max(counts[name], 1))
        for name in labels
    }
    logging.info("Class weights: %s", weights)
    return weights
