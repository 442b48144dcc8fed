"""The base class of the formats that the reader converts to Google's names.

Such a reader runs no code of a file, and reads a value only when a caller needs
the value.
"""

import abc
import dataclasses
import re
from collections.abc import Mapping, Sequence

import keras
from absl import logging

from model_folders.formats.weight_entries import (
    NEXT_SENTENCE_POOLER,
    POOLER,
    WeightEntry,
)
from modeling.checkpoints.formats.checkpoint import Checkpoint, LoadReport
from modeling.checkpoints.formats.variables import (
    google_name_of,
    restore_variables,
)
from modeling.keras_fit import KerasFitModel

# Matches Google's names.
_GOOGLE_NAME = re.compile(r"bert/|cls/|output_")
_NEXT_SENTENCE = "cls/seq_relationship/output_weights"


@dataclasses.dataclass(frozen=True)
class ConvertedCheckpoint(Checkpoint):
    """Weights that `open_entries` returns under Google's names."""

    @abc.abstractmethod
    def open_entries(self) -> Mapping[str, WeightEntry]:
        """Returns {Google's name: WeightEntry}, without reading the values.

        The shapes are those of the model's variables. Entries that Google's
        BERT lacks keep their names in the file.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file contains no weights of a BERT.
        """

    def read_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {Google's name: shape of the model's variable}.

        Entries that Google's BERT lacks keep their names in the file.
        """
        entries = self.open_entries()
        return {name: entry.shape for name, entry in entries.items()}

    def load(
        self,
        model: keras.Model,
        initial_blocks: Sequence[int] | None = None,
        new_head: Sequence[str] = (),
    ) -> LoadReport:
        """Assigns the values to a model.

        Reports the entries that Google's BERT lacks as unused.

        Raises:
            OSError: the file cannot be read.
            ValueError: a variable of the encoder is missing, a shape differs,
                the model cannot use a value, or the file contains another
                number of attention heads than the model.
        """
        entries = self.open_entries()
        if not model.built:
            model.build()
        entries = _with_one_pooler(model, self.file, entries)
        _check_heads(model, self.file, entries)
        report = restore_variables(
            model,
            self.file,
            entries,
            initial_blocks=initial_blocks,
            new_head=new_head,
        )
        unread = [
            name for name in report.unused if not _GOOGLE_NAME.match(name)
        ]
        if unread:
            logging.warning(
                "%s also contains a head that is not read: %s",
                self.file,
                ", ".join(unread),
            )
        return report


def _with_one_pooler(
    model: keras.Model, path: str, entries: Mapping[str, WeightEntry]
) -> dict[str, WeightEntry]:
    """Returns the entries with the pooler that the model needs.

    A model that predicts next sentences needs the pooler of that head. A model
    that computes vectors needs the encoder's pooler. Logs which of two poolers
    it takes.
    """
    start = f"{NEXT_SENTENCE_POOLER}/"
    pooler_of_head = {name for name in entries if name.startswith(start)}
    others = {
        name: entries[name] for name in entries if name not in pooler_of_head
    }
    names = {google_name_of(weight) for weight in model.weights}
    if not pooler_of_head or f"{POOLER}/kernel" not in names:
        return others
    has_head = _NEXT_SENTENCE in names & entries.keys()
    if has_head or f"{POOLER}/kernel" not in entries:
        loaded = "the pooler of the head for next sentences"
        pooler = {
            f"{POOLER}/{name.removeprefix(start)}": entries[name]
            for name in pooler_of_head
        }
    else:
        loaded = "the encoder's pooler"
        pooler = {}
    logging.info("%s contains two poolers; loaded %s", path, loaded)
    return {**others, **pooler}


def _check_heads(
    model: keras.Model, path: str, entries: Mapping[str, WeightEntry]
) -> None:
    """Raises a ValueError if a file shows another number of attention heads.

    With another number of heads, kernels of the same size mean something else.
    """
    # A plain `keras.Model` has no configuration.
    if not isinstance(model, KerasFitModel):
        return
    num_heads = model.config.num_attention_heads
    for name, entry in entries.items():
        if entry.num_heads not in (None, num_heads):
            raise ValueError(
                f"{name} has {entry.num_heads} attention heads in {path}, but "
                f"num_attention_heads is {num_heads}. Correct the configuration"
            )
