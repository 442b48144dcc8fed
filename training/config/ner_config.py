"""The flags of run_ner.py."""

import dataclasses

from data.ner.ner_options import NerOptions
from model_folders.kinds import ModelClass
from options import fields
from options.fields import group
from training.config.fine_tuning_config import DataFileConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class NerConfig(DataFileConfig):
    """Flags of run_ner.py."""

    ner: NerOptions = group(NerOptions)
    legal_tags: bool = fields.decoding_option(
        True,
        "Choose the most probable legal sequence of tags. For example, I-PER "
        "after O is illegal. False chooses the most probable tag of each word.",
    )
    model_class = ModelClass.TOKEN_CLASSIFIER

    @property
    def rows_are_inputs(self) -> bool:
        """Whether each row is an input, so that rows show a suitable length.

        With --document_context, windows are cut from complete documents.
        """
        return not self.ner.document_context
