"""Finds the files that say what weights mean, and reads their configuration.

The files may be of any library.
"""

import os
import re

from files.json_files import JsonObject, read_json
from files.paths import StrPath
from model_folders.bert_config import (
    BERT_CONFIG_FILE,
    HUGGINGFACE_CONFIG_FILE,
    BertConfig,
)
from model_folders.formats import (
    huggingface_config,
    kerashub_config,
    object_based_folders,
)
from model_folders.formats.huggingface_config import HUGGINGFACE_WEIGHTS
from model_folders.formats.shards import list_shards
from model_folders.head_settings import HeadSettings
from model_folders.kinds import ModelClass

# Other weights that config.json describes. They are read before a checkpoint
# with a NAME.index, which bert_config.json describes.
_KERAS_WEIGHTS = (
    kerashub_config.WEIGHTS_FILE,
    kerashub_config.INDEX_FILE,
    "tf_model.h5",
    "tf_model.h5.index.json",
)
_WEIGHTS_PATH = re.compile(
    r"\.(?:safetensors|bin|h5)(?:\.index\.json)?$|\.weights\.json$"
)


def list_config_files(folder: StrPath, weights_path: StrPath) -> list[str]:
    """Returns the paths that a configuration may have, the likeliest first.

    A folder may contain both files, and weights for each file. "gelu" is
    another function in config.json than in bert_config.json.

    Args:
        folder: folder of the weights.
        weights_path: file, prefix of the files or folder of the weights.
    """
    names = [BERT_CONFIG_FILE, HUGGINGFACE_CONFIG_FILE]
    weights = [
        os.path.join(weights_path, name)
        for name in (*HUGGINGFACE_WEIGHTS, *_KERAS_WEIGHTS)
    ]
    is_of_config_json = _WEIGHTS_PATH.search(str(weights_path))
    if is_of_config_json or any(map(os.path.isfile, weights)):
        names.reverse()
    if object_based_folders.is_saved_encoder(folder):
        names.append(object_based_folders.SAVED_MODEL_FILE)
    return [os.path.join(folder, name) for name in names]


def load_config(path: StrPath) -> BertConfig:
    """Reads a `bert_config.json`, or a `config.json` of another library.

    For TF-Hub's `saved_model.pb`, the sizes follow from the shapes of the
    weights.

    Args:
        path: path of the file or its folder. If the folder contains both files,
            the function reads the file that describes the folder's weights.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is not the configuration of a BERT. The message
            names the file.
    """
    file = _choose_config_file(str(path))
    return BertConfig.from_file_entries(_read_network(file), file)


def _choose_config_file(path: str) -> str:
    """Returns the configuration in a folder. A file is returned unchanged."""
    if not os.path.isdir(path):
        return path
    files = list_config_files(path, path)
    return next(filter(os.path.isfile, files), files[0])


def _read_network(path: str) -> JsonObject:
    """Returns the entries of a bert_config.json for a file of any library."""
    folder, name = os.path.split(path)
    if (
        name == object_based_folders.SAVED_MODEL_FILE
        and object_based_folders.is_saved_encoder(folder)
    ):
        return object_based_folders.read_network(folder)
    values = read_json(path)
    if kerashub_config.is_kerashub(values):
        return kerashub_config.parse_network(values, path)
    if _is_huggingface(values, path):
        return huggingface_config.parse_network(values, path)
    return values


def _is_huggingface(values: JsonObject, path: str) -> bool:
    if {"model_type", "architectures"} & values.keys():
        return True
    # A Hugging Face config.json of 2019 contains none of these keys. Recognize
    # it by the weights beside it.
    folder, name = os.path.split(path)
    files = [
        os.path.join(folder, weights)
        for weights in ("pytorch_model.bin", "tf_model.h5")
    ]
    return name == HUGGINGFACE_CONFIG_FILE and any(map(os.path.isfile, files))


def read_class_and_settings(
    path: StrPath,
) -> tuple[ModelClass | None, HeadSettings]:
    """Returns (class of the model, settings of its head) of a config.json.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is no JSON object, an entry has another type, or
            KerasHub's network or task is none that this project reads.
    """
    values = read_json(path)
    if kerashub_config.is_kerashub(values):
        return kerashub_config.read_class_and_settings(os.path.dirname(path))
    return huggingface_config.parse_class_and_settings(values, path)


def list_files_beside(path: str) -> list[str]:
    """Returns the files that change what the weights in a file mean.

    These files contain more of the weights, or say what the weights mean. Some
    formats have none.

    Args:
        path: path of the weights in any format, or of their index.

    Raises:
        OSError: the index cannot be read.
        ValueError: the index is malformed.
    """
    if path.endswith(".index.json"):
        return list_shards(path)
    return kerashub_config.list_kerashub_files_beside(path)
