"""Loads the weights in folders of transformers.

model_folders/formats/huggingface_weights.py opens the files, and converts the
names of the tensors. huggingface_writer.py writes such folders.
"""

import contextlib
import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import keras
import numpy as np

from model_folders.formats.huggingface_weights import (
    google_to_huggingface,
    huggingface_to_google,
    normalized_name,
    open_huggingface_entries,
)
from model_folders.formats.weight_entries import (
    WeightEntry,
    printable_name,
    transposed,
    without_scope,
)
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.variables import StoredEntry

# Matches the name of BERT's word embeddings in any scope, except in the scopes
# of other networks, such as `roberta.`.
_WORD_EMBEDDINGS = re.compile(
    r"((?:.+?\.)??)(?<!\wbert\.)(?<!berta\.)(?<!electra\.)"
    r"(?:bert\.)?embeddings\.word_embeddings\.weight"
)
# Matches weights that the packages peft and adapters insert into the encoder.
_ADAPTER = re.compile(r"\.(?:lora_\w+|ia3_l|adapters?|adapter_\w+)(?:\.|$)")
# Matches tensors that are not reported as unused: position_ids, which are
# constants, and the decoder, which copies other weights.
_UNREPORTED_NAME = re.compile(r"position_ids$|predictions\.decoder\.")
# {entry of the masked LM's output layer: the entry that it copies}.
_SOURCE_OF_COPY = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}


@dataclasses.dataclass(frozen=True)
class HuggingFaceCheckpoint(Checkpoint):
    """A checkpoint of transformers, in one file or in several with an index."""

    def read_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {Hugging Face's name: shape} of the tensors."""
        tensors = open_huggingface_entries(self.file)
        names = without_scope(tensors, _WORD_EMBEDDINGS)
        return {name: tensors[stored].shape for name, stored in names.items()}

    def read_google_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {Google's name: shape of the model's variable}.

        Names that Google's BERT lacks are returned unchanged.
        """
        shapes = {
            normalized_name(name): shape for name, shape in self.shapes.items()
        }
        for copy, shared in _SOURCE_OF_COPY.items():
            if copy in shapes:
                shapes.setdefault(shared, shapes[copy])
        google = {
            huggingface_to_google(name): shape for name, shape in shapes.items()
        }
        return {
            name: shape[::-1] if name.endswith("/kernel") else shape
            for name, shape in google.items()
        }

    @contextlib.contextmanager
    def open_entries(
        self, model: keras.Model, names: Collection[str]
    ) -> Iterator[Mapping[str, StoredEntry]]:
        """Opens {Google's name: entry}, other entries by Hugging Face's names.

        The file may lack the pooler, as masked LM and question answering models
        do.
        """
        tensors = self._open_tensors()
        if any(name.startswith("cls/predictions/") for name in names):
            tensors = _tie_decoder(self.file, tensors)
        stored_names = {name: google_to_huggingface(name) for name in names}
        entries = {
            name: _google_entry(name, tensors[stored_name])
            for name, stored_name in stored_names.items()
            if stored_name in tensors
        }
        needed = {*stored_names.values()}
        others = [name for name in tensors if name not in needed]
        _check_no_adapter(self.file, others)
        entries |= {
            name: tensors[name]
            for name in others
            if not _UNREPORTED_NAME.search(name)
        }
        yield entries

    def _open_tensors(self) -> dict[str, WeightEntry]:
        """Returns {name, as in a new file with a head: WeightEntry}."""
        stored = open_huggingface_entries(self.file)
        scopeless = without_scope(stored, _WORD_EMBEDDINGS)
        return {
            normalized_name(name): stored[scopeless[name]] for name in scopeless
        }


def _google_entry(name: str, tensor: WeightEntry) -> WeightEntry:
    """Returns the entry of a tensor of a file, by Google's name of it."""
    # Hugging Face stores kernels transposed.
    return transposed(tensor) if name.endswith("/kernel") else tensor


def _check_no_adapter(path: str, names: Iterable[str]) -> None:
    """Raises a ValueError if a tensor with one of the names is an adapter's."""
    for name in names:
        if _ADAPTER.search(name):
            raise ValueError(
                f"{path} contains {printable_name(name)}, a weight of an "
                "adapter. Merge the adapter into the model, and save the "
                "model again"
            )


def _tie_decoder(
    path: str, tensors: Mapping[str, WeightEntry]
) -> dict[str, WeightEntry]:
    """Returns tensors with the masked LM's output layer as word embeddings.

    BERT uses one matrix for both. If a file contains only the output layer, the
    result contains this matrix under the name of the word embeddings. Two
    different matrices are an error.
    """
    tied = dict(tensors)
    for copy, shared in _SOURCE_OF_COPY.items():
        if copy not in tensors:
            continue
        if shared not in tensors:
            tied[shared] = tied.pop(copy)
        elif not np.array_equal(tensors[copy].read(), tensors[shared].read()):
            raise ValueError(
                f"{path}: {copy} differs from {shared} (tie_word_embeddings "
                "is false), so this checkpoint cannot be used for masked LM"
            )
    return tied
