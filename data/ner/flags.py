"""Flags of run_ner.py."""

import dataclasses

from absl import flags


@dataclasses.dataclass(frozen=True)
class NerOptions:
    """The task's own flags."""

    labels: list[str] | None = None
    document_context: bool = False
    report: bool = False


def define() -> None:
    """Defines the tags, the context and the report."""
    flags.DEFINE_bool(
        "document_context",
        False,
        "Use whole documents as context, as in the paper, instead of single "
        "sentences.",
    )
    flags.DEFINE_bool(
        "report",
        False,
        "Write report.html about the dev set: each type's scores, errors by "
        "kind, and sentences with their entities in colour.",
    )
    flags.DEFINE_list(
        "labels",
        None,
        "The tags in order; by default those of the train set, O first, or "
        "those that the model was trained with.",
    )
