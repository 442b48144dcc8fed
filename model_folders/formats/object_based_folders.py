"""Finds object-based checkpoints, and reads the settings of TF-Hub's models.

The folder of a SavedModel of TF-Hub or Kaggle contains saved_model.pb,
variables/ and assets/vocab.txt, and no configuration: the sizes follow from the
shapes of the weights. This module never runs the SavedModel. It loads
TensorFlow only to read weights, because other formats do not need TensorFlow,
which other backends of Keras lack.
"""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.checkpoint_folders import find_tf1_checkpoint
from model_folders.model_json import MODEL_JSON_FILE
from model_folders.tokenizer_files import StatedCasing

if TYPE_CHECKING:
    from model_folders.formats.weight_entries import WeightEntry

SAVED_MODEL_FILE = "saved_model.pb"
VOCAB_FILE = "assets/vocab.txt"
# Prefix of the checkpoint in the folder.
VARIABLES_PREFIX = "variables/variables"
# Exports of this project contain one of these files.
_OWN_FILES = (MODEL_JSON_FILE, f"assets.extra/{MODEL_JSON_FILE}")
_FIRST_BLOCK = "bert/encoder/layer_0"


def find_object_weights(path: StrPath) -> str | None:
    """Returns the prefix of a checkpoint, None for other formats."""
    prefix = _find_prefix(os.fspath(path))
    if prefix is None:
        return None
    # This module loads TensorFlow.
    from model_folders.formats.object_based_weights import has_graph

    return prefix if has_graph(prefix) else None


def open_object_entries(path: str) -> Mapping[str, "WeightEntry"]:
    """Returns {Google's name: WeightEntry} of an object-based checkpoint.

    Args:
        path: result of `find_object_weights`.
    """
    # This module loads TensorFlow.
    from model_folders.formats.object_based_weights import open_graph_entries

    return open_graph_entries(path)


def _find_prefix(path: str) -> str | None:
    if not os.path.isdir(path):
        return path if os.path.isfile(f"{path}.index") else None
    if is_saved_encoder(path):
        return os.path.join(path, VARIABLES_PREFIX)
    if os.path.isfile(os.path.join(path, MODEL_JSON_FILE)):
        # This project writes TF1 checkpoints only.
        return None
    try:
        return find_tf1_checkpoint(path, contents={})
    except (FileNotFoundError, ValueError):
        return None


def is_saved_encoder(folder: StrPath) -> bool:
    """Returns whether a folder may be the SavedModel of an encoder.

    An export of this project does not count as such a SavedModel, because its
    weights were changed for serving.
    """

    def has(name: str) -> bool:
        return os.path.isfile(os.path.join(folder, name))

    return (
        has(SAVED_MODEL_FILE)
        and has(f"{VARIABLES_PREFIX}.index")
        and not any(map(has, _OWN_FILES))
    )


def read_network(folder: StrPath) -> JsonObject:
    """Returns the entries of a bert_config.json, which the shapes determine.

    The activation, which no shape shows, is the default: Google's gelu.

    Raises:
        OSError: the weights cannot be read.
        ValueError: the SavedModel contains no BERT.
    """
    entries = open_object_entries(_variables_prefix(folder))

    def shape_of(name: str) -> list[int]:
        return [*entries[f"bert/embeddings/{name}"].shape]

    num_heads = entries[f"{_FIRST_BLOCK}/attention/self/query/kernel"].num_heads
    blocks = map(re.compile(r"bert/encoder/(layer_\d+)/").match, entries)
    return {
        "vocab_size": shape_of("word_embeddings")[0],
        "hidden_size": shape_of("word_embeddings")[-1],
        "num_hidden_layers": len({block[1] for block in blocks if block}),
        "num_attention_heads": num_heads,
        "intermediate_size": entries[
            f"{_FIRST_BLOCK}/intermediate/dense/kernel"
        ].shape[-1],
        "max_position_embeddings": shape_of("position_embeddings")[0],
        "type_vocab_size": shape_of("token_type_embeddings")[0],
    }


def read_casing_of_saved_model(folder: StrPath) -> StatedCasing:
    """Returns the casing of the tokenizer that a SavedModel states."""
    # This module loads TensorFlow.
    from model_folders.formats.object_based_weights import read_casing

    prefix = _variables_prefix(folder)
    casing = read_casing(prefix)
    if casing is None:
        return {}
    return {"do_lower_case": casing, "file": f"{prefix}.index"}


def _variables_prefix(folder: StrPath) -> str:
    return os.path.join(folder, VARIABLES_PREFIX)
