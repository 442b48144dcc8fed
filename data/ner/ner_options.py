"""Defines the options for reading tagged words."""

import dataclasses
from collections.abc import Sequence

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

    @property
    def word_column_index(self) -> int | None:
        """Index from 0 of the column of the words, None if no flag shows it."""
        return None if self.text_column is None else self.text_column - 1

    @property
    def tag_column_index(self) -> int | None:
        """Index from 0 of the column of the tags, None if no flag shows it."""
        return None if self.label_column is None else self.label_column - 1
