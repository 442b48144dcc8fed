"""Reports which weights a model loaded, and checks that none is missing."""

import dataclasses
import re
from collections.abc import Sequence

from absl import logging

from model_folders.formats.weight_entries import printable_name

# Matches the names of weights and slots that another model of this project
# ignores, and of single values, such as global_step.
_KNOWN_NAME = re.compile(
    r"(^|[./])(bert|embeddings|encoder|pooler|cls|bilstm|distillation|"
    r"classifier|output_\w+|qa_outputs|seed_\w+)[./]|^\w+$"
)


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """The variables that a model loaded from a checkpoint, and the others.

    Attributes:
        path: path of the checkpoint.
        loaded: names of the variables that got a value from the checkpoint.
        missing: names of the variables that the checkpoint lacks. They keep
            their values, so a new head starts with random values.
        unused: names of the checkpoint's entries that the model lacks.
        new_head: names of the head's variables, if the checkpoint contains the
            head of another task. They keep their random values too.
    """

    path: str
    loaded: list[str]
    missing: list[str]
    unused: list[str]
    new_head: Sequence[str] = ()


def check_loaded(report: LoadReport, *, needs_head: bool = True) -> None:
    """Checks that a model which is not trained has no random weights.

    Logs a warning if the checkpoint contains weights that no model reads.

    Args:
        report: report of loading the weights.
        needs_head: whether the caller computes the outputs of the head.

    Raises:
        ValueError: the checkpoint lacks the head.
    """
    others = ", ".join(
        printable_name(name)
        for name in report.unused
        if not _KNOWN_NAME.search(name)
    )
    optional = ("bert/pooler/", "cls/seq_relationship/")
    lost = [name for name in report.missing if not name.startswith(optional)]
    if lost and needs_head:
        raise ValueError(
            f"{report.path} lacks {lost[0]}, so the outputs would be random. "
            "Train the head (--do_train), or name its weights as transformers "
            f"does for BERT. Unknown weights: {others or 'none'}"
        )
    if others:
        logging.warning(
            "%s also contains %s, which this program does not use. If the "
            "model needs these weights, its outputs will be wrong.",
            report.path,
            others,
        )
