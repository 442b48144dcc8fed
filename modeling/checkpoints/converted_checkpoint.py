"""Loads the formats of weights whose readers convert the names to Google's.

`CONVERTED_FORMATS` lists these formats. Their readers in model_folders/formats/
run no code of a file, and read a value only when a caller needs the value.
"""

import contextlib
import dataclasses
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import keras
from absl import logging

from files.paths import StrPath
from model_folders.formats.kerashub_weights import (
    find_kerashub_weights,
    open_kerashub_entries,
)
from model_folders.formats.object_based_folders import (
    find_object_weights,
    open_object_entries,
)
from model_folders.formats.tf_h5_weights import (
    find_tf_h5_weights,
    open_tf_h5_entries,
)
from model_folders.formats.weight_entries import (
    NEXT_SENTENCE_POOLER,
    POOLER,
    WeightEntry,
)
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.variables import StoredEntry
from modeling.keras_fit import KerasFitModel

# Matches Google's names.
_GOOGLE_NAME = re.compile(r"bert/|cls/|output_")
_NEXT_SENTENCE = "cls/seq_relationship/output_weights"


@dataclasses.dataclass(frozen=True)
class ConvertedFormat:
    """A format of weights, and the functions that find and open its files.

    Attributes:
        name: name of the format, as in the table of `model_folders.formats`.
        find: returns the path of the weights that a path names or contains, or
            None if there are none of this format.
        open_entries: returns {Google's name: WeightEntry} of the file that
            `find` returned, without reading the values. The shapes are those of
            the model's variables. Entries that Google's BERT lacks keep their
            names in the file. Raises an OSError if the file cannot be read, and
            a ValueError if it contains no weights of a BERT.
    """

    name: str
    find: Callable[[StrPath], str | None]
    open_entries: Callable[[str], Mapping[str, WeightEntry]]


# In the order in which a folder is searched.
CONVERTED_FORMATS: Sequence[ConvertedFormat] = (
    ConvertedFormat("kerashub", find_kerashub_weights, open_kerashub_entries),
    ConvertedFormat("tf_h5", find_tf_h5_weights, open_tf_h5_entries),
    ConvertedFormat("object_based", find_object_weights, open_object_entries),
)


@dataclasses.dataclass(frozen=True)
class ConvertedCheckpoint(Checkpoint):
    """A checkpoint whose reader converts the names of its weights to Google's.

    Attributes:
        format: format of the file, which contains the functions of the reader.
    """

    format: ConvertedFormat

    def read_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {Google's name: shape of the model's variable}.

        Entries that Google's BERT lacks keep their names in the file.
        """
        entries = self.format.open_entries(self.file)
        return {name: entry.shape for name, entry in entries.items()}

    @contextlib.contextmanager
    def open_entries(
        self, model: keras.Model, names: Collection[str]
    ) -> Iterator[Mapping[str, StoredEntry]]:
        """Opens {Google's name: entry} with the pooler that the model needs.

        When the model has been loaded, warns of a head that Google's BERT
        lacks.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file contains no weights of a BERT, or of another
                number of attention heads than the model.
        """
        opened = self.format.open_entries(self.file)
        entries = _with_one_pooler(self.file, opened, names)
        _check_heads(model, self.file, entries)
        yield entries
        unread = [name for name in entries if not _GOOGLE_NAME.match(name)]
        if unread:
            logging.warning(
                "%s also contains a head that is not read: %s",
                self.file,
                ", ".join(unread),
            )


def _with_one_pooler(
    path: str, entries: Mapping[str, WeightEntry], names: Collection[str]
) -> dict[str, WeightEntry]:
    """Returns the entries with the pooler that a model of these names needs.

    A model that predicts next sentences needs the pooler of that head. A model
    that computes vectors needs the encoder's pooler. Logs which of two poolers
    it takes.
    """
    start = f"{NEXT_SENTENCE_POOLER}/"
    pooler_of_head = {name for name in entries if name.startswith(start)}
    others = {
        name: entries[name] for name in entries if name not in pooler_of_head
    }
    if not pooler_of_head or f"{POOLER}/kernel" not in names:
        return others
    has_head = _NEXT_SENTENCE in names and _NEXT_SENTENCE in entries
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
