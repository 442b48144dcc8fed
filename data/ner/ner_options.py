"""Defines the options for reading tagged words, and their columns."""

import dataclasses
from collections.abc import Sequence

from data.sets.set_names import BaseSet
from data.tables.table_layout import LayoutOptions
from options import fields


@dataclasses.dataclass(frozen=True, kw_only=True)
class NerOptions(LayoutOptions):
    """Options for reading tagged words: their columns and their tags."""

    labels: Sequence[str] | None = fields.head_option(
        None,
        "The tags in the order of the model's outputs, comma-separated. The "
        "default is the tags of the train set, O first. Without training, it "
        "is the tags that the model was trained with.",
    )
    text_column: int | None = fields.training_option(
        None,
        "Number of the column that contains the words. The default is the "
        "column named word or token, or 1, the first column, or 2 if the first "
        "column contains the tags.",
        at_least=1,
    )
    label_column: int | None = fields.training_option(
        None,
        "Number of the column that contains the tags. The first column is 1. "
        "The default is the column named tag, label or ner, or the last "
        "column, or the first column if it contains the tags.",
        at_least=1,
    )
    document_context: bool = fields.head_option(
        False,
        "Use whole documents as context, as in the paper, instead of single "
        "sentences.",
    )


@dataclasses.dataclass(frozen=True)
class ConllFileOptions:
    """Options for reading one file of columns, by `NerOptions` or a model.

    A column is an index from 0, although a flag numbers columns from 1.

    Attributes:
        word_column_index: column of the words, None if no flag shows it.
        tag_column_index: column of the tags, None if no flag shows it.
        labels: the tags of --labels or of the model, [] if they are unknown.
        set_name: name of the set that the file contains.
    """

    word_column_index: int | None
    tag_column_index: int | None
    labels: Sequence[str]
    set_name: BaseSet

    @property
    def is_test(self) -> bool:
        """Whether the file is a test set, which may lack tags."""
        return self.set_name == "test"
