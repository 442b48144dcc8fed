"""Downloads models from the Hugging Face hub. Imports no Keras.

`huggingface_hub` downloads the files and shows the progress. Its cache, its
token, and its variables such as HF_HOME, HF_TOKEN, HF_ENDPOINT and
HF_HUB_OFFLINE work as everywhere else.
"""

import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path

from dependencies.installation import install_command
from files.json_files import read_json
from model_folders.bert_config import (
    BERT_CONFIG_FILE,
    HUGGINGFACE_CONFIG_FILE,
)
from model_folders.formats import kerashub_config
from model_folders.labels import LABELS_FILE

_SCHEME = "hf://"
# The folder of a download in the cache.
_SNAPSHOT = re.compile(r"models--(.+)--(.+)[/\\]snapshots[/\\]([0-9a-f]{40})$")
_HUB_PATH = re.compile(r"hf://([^/@\s]+/[^/@\s]+?)/?(?:@(\S+))?")
# What describes a model: network, head, vocabulary, tokenizer and pooling.
_SMALL_FILES = (
    HUGGINGFACE_CONFIG_FILE,
    BERT_CONFIG_FILE,
    "model.json",
    LABELS_FILE,
    "vocab.txt",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    kerashub_config.TASK_FILE,
    kerashub_config.PREPROCESSOR_FILE,
    kerashub_config.VOCAB_FILE,
)
_SAFETENSORS_FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "model-*-of-*.safetensors",
)
_KERASHUB_FILES = (
    kerashub_config.WEIGHTS_FILE,
    kerashub_config.INDEX_FILE,
    kerashub_config.SHARDS,
    kerashub_config.TASK_WEIGHTS_FILE,
)
_TORCH_FILES = (
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "pytorch_model-*-of-*.bin",
)
_TENSORFLOW_FILES = (
    "tf_model.h5",
    "tf_model.h5.index.json",
    "tf_model-*-of-*.h5",
)


def hub_path_of(folder: str) -> str | None:
    """Returns hf://OWNER/NAME@COMMIT for a folder of the cache, else None."""
    match = _SNAPSHOT.search(os.path.abspath(folder))
    return match and "hf://{}/{}@{}".format(*match.groups())


def to_local_folder(path: str) -> str:
    """Downloads the files of hf://OWNER/NAME that this project reads.

    Args:
        path: hf://OWNER/NAME or hf://OWNER/NAME@REVISION. The revision is a
            branch, a tag or a commit. Other paths are returned unchanged.

    Returns:
        the folder in the cache.

    Raises:
        ValueError: the path is malformed, huggingface_hub is not installed, or
            there is no BERT that this installation can read.
        OSError: the files cannot be downloaded.
    """
    if not path.startswith(_SCHEME):
        return path
    match = _HUB_PATH.fullmatch(path)
    if not match:
        raise ValueError(f"{path} must be hf://OWNER/NAME, or end in @REVISION")
    if not importlib.util.find_spec("huggingface_hub"):
        raise ValueError(
            f"{path} needs huggingface_hub: "
            f"{install_command('huggingface_hub')}"
        )
    name, revision = match.groups()
    small_files = _download_files(path, name, revision)
    # Check the small files before the large ones are downloaded.
    commit = small_files.name
    if kerashub_config.has_kerashub_config(small_files):
        # Raises an error for a network or a task that is not read.
        kerashub_config.read_class_and_settings(small_files)
        return str(_download_files(path, name, commit, _KERASHUB_FILES))
    _check_is_bert(path, small_files / HUGGINGFACE_CONFIG_FILE)
    folder = _download_files(path, name, commit, _SAFETENSORS_FILES)
    if not any(folder.glob("*.safetensors")):
        folder = _download_older_files(path, name, commit)
    return str(folder)


def _check_is_bert(path: str, config: Path) -> None:
    """Raises a ValueError if the config.json of a model is not a BERT's."""
    model_type = None
    if config.is_file():
        model_type = read_json(config).get("model_type")
    if model_type != "bert":
        reason = "there is no config.json"
        if model_type:
            reason = f"model_type is {model_type!r}"
        raise ValueError(
            f"{path} is not a BERT: {reason}. Choose another model"
        )


def _download_older_files(path: str, name: str, commit: str) -> Path:
    """Downloads older weights, in the first format that a repository contains.

    Returns the folder of the download.
    """
    has_torch = importlib.util.find_spec("torch")
    for weights in (
        (_TORCH_FILES, _TENSORFLOW_FILES) if has_torch else (_TENSORFLOW_FILES,)
    ):
        folder = _download_files(path, name, commit, weights)
        if any(file for pattern in weights for file in folder.glob(pattern)):
            return folder
    if not has_torch:
        raise ValueError(
            f"{path} contains no model.safetensors or tf_model.h5, and other "
            "weights can only be read with torch. Run `pip install torch`"
        )
    raise ValueError(
        f"{path} contains no model.safetensors, pytorch_model.bin or "
        "tf_model.h5. Choose another model"
    )


def _download_files(
    path: str, name: str, revision: str | None, weights: Sequence[str] = ()
) -> Path:
    """Downloads the small files of a model, and weights that match a pattern.

    Returns the folder of the download.
    """
    # The package is optional, and nothing else needs it.
    from huggingface_hub import constants, errors, snapshot_download

    try:
        folder = snapshot_download(
            name, revision=revision, allow_patterns=[*_SMALL_FILES, *weights]
        )
    except (OSError, errors.HTTPError) as error:
        # Says whether the name is wrong, or the model private or gated.
        reason = " ".join(str(error).split())
        raise OSError(
            f"{path} cannot be downloaded: {reason}. Or download the files of "
            f"{constants.ENDPOINT}/{name} by hand, and use their folder"
        ) from error
    return Path(folder)
