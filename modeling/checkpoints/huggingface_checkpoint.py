"""Loads the weights in folders of transformers, and writes such folders.

model_folders/formats/huggingface_weights.py reads their files, and converts the
names of the tensors.
"""

import contextlib
import dataclasses
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import keras
import numpy as np
import safetensors.numpy

from files.paths import StrPath
from model_folders.atomic_folders import atomic_folder
from model_folders.bert_config import HUGGINGFACE_CONFIG_FILE
from model_folders.formats.huggingface_config import (
    HUGGINGFACE_WEIGHTS,
    create_config_json,
)
from model_folders.formats.huggingface_weights import (
    google_to_huggingface,
    huggingface_to_google,
    normalized_name,
    open_huggingface_entries,
)
from model_folders.formats.weight_entries import (
    WeightArray,
    WeightEntry,
    printable_name,
    transposed,
    without_scope,
)
from model_folders.kinds import ModelClass, model_class_of
from model_folders.tokenizer_files import Tokenizer, create_tokenizer_files
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.variables import StoredEntry, google_name_of
from modeling.keras_fit import KerasFitModel

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


def save_huggingface(
    model: KerasFitModel,
    folder: StrPath,
    *,
    tokenizer: Tokenizer | None = None,
    labels: Sequence[str] | None = None,
    leave_out: Collection[str] = (),
    problem_type: str | None = None,
    max_length: int | None = None,
    files: Mapping[str, str] | None = None,
) -> None:
    """Writes a model as a folder that transformers reads.

    Writes model.safetensors and config.json, and with a tokenizer also
    vocab.txt, tokenizer.json and tokenizer_config.json. The files appear
    together or not at all. If a folder contains no vocabulary, transformers
    silently creates a tokenizer that knows only the five special tokens.

    Args:
        model: a model whose class transformers has too, built or not.
        folder: folder to write. If it exists, it must not contain files that
            this project did not write.
        tokenizer: tokenizer of the model. If None, the function writes no
            tokenizer.
        labels: names of a classifier's outputs, in order. If None, the names
            are LABEL_0, LABEL_1, ...
        leave_out: Google's names of weights to omit, for example of the next
            sentence head.
        problem_type: entry `problem_type` of config.json, such as
            "multi_label_classification". It determines the loss that
            transformers computes for a classifier. If None, transformers
            decides.
        max_length: maximum length of the tokenizer's inputs, in WordPieces. If
            None, the model's `max_position_embeddings` is the length.
        files: {name: text} of additional files to write, such as model.json.

    Raises:
        ValueError: transformers has no class for the model, `labels` or the
            vocabulary do not fit the model, or the folder contains a user's
            file.
        OSError: a file cannot be written.
    """
    if not model.built:
        model.build()
    values = create_config_json(
        model.config,
        model_class=model_class_of(model),
        num_labels=model.num_labels,
        labels=labels,
        tokenizer=tokenizer,
        problem_type=problem_type,
        leave_out=leave_out,
    )
    contents: dict[str, str | bytes] = {}
    if tokenizer:
        max_seq_length = max_length or model.config.max_position_embeddings
        contents |= create_tokenizer_files(
            tokenizer, max_seq_length, model.config.vocab_size
        )
    tensors = _copy_tensors(model, leave_out)
    contents[HUGGINGFACE_CONFIG_FILE] = (
        json.dumps(values, indent=2, sort_keys=True) + "\n"
    )
    contents |= files or {}
    # Do not use `save_file`, which creates a file that only its owner can read.
    weights = safetensors.numpy.save(tensors, metadata={"format": "pt"})
    with atomic_folder(folder, contents) as partial_folder:
        (partial_folder / HUGGINGFACE_WEIGHTS[0]).write_bytes(weights)


def _copy_tensors(
    model: keras.Model, leave_out: Collection[str]
) -> dict[str, WeightArray]:
    """Returns {Hugging Face's name: value} of a model's weights."""
    tensors = {}
    for weight in model.weights:
        name = google_name_of(weight)
        if name not in leave_out:
            value = np.asarray(weight)
            value = value.T if name.endswith("/kernel") else value
            tensors[google_to_huggingface(name)] = np.ascontiguousarray(value)
    if model_class_of(model) != ModelClass.ENCODER:
        return tensors
    return {
        name.removeprefix("bert."): tensor for name, tensor in tensors.items()
    }
