"""Reads the settings that sentence-transformers wrote to a folder of weights.

Its modules.json lists the modules of a model: the network, how the vectors of
tokens become one vector, and what follows. This module imports neither Keras
nor TensorFlow.
"""

import os
from pathlib import Path

from files.json_files import parse_json, read_json

# Files of sentence-transformers.
_MODULES_FILE = "modules.json"
_POOLING_FILE = "1_Pooling/config.json"
# Files that define how sentence-transformers computes one vector for a text.
_VECTOR_FILES = (
    _POOLING_FILE,
    "config_sentence_transformers.json",
    _MODULES_FILE,
    "sentence_bert_config.json",
)


def read_network_folder(folder: Path) -> str:
    """Returns the name of the folder in `folder` that contains the network.

    Returns "" if `folder` itself contains the network, or is the folder of
    another program.

    Raises:
        ValueError: modules.json is malformed.
    """
    file = folder / _MODULES_FILE
    if not file.is_file():
        return ""
    listed = parse_json(file.read_bytes(), str(file), list)
    first = listed[0] if listed else {}
    name = first.get("path") if isinstance(first, dict) else None
    is_name = isinstance(name, str) and os.path.basename(name) == name
    return str(name) if is_name else ""


def read_pooling(folder: Path) -> str | None:
    """Returns how sentence-transformers pools, None if it averages.

    Args:
        folder: folder of the network, which `read_network_folder` may name.

    Raises:
        ValueError: a file is malformed.
    """
    if folder.name and read_network_folder(folder.parent) == folder.name:
        folder = folder.parent
    file = folder / _POOLING_FILE
    modules = folder / _MODULES_FILE
    if modules.is_file():
        listed = parse_json(modules.read_bytes(), str(modules), list)
        if any("Dense" in str(module) for module in listed):
            return "a Dense layer"
    pooling = read_json(file) if file.is_file() else {}
    modes = [
        value if isinstance(value, str) else name
        for name, value in pooling.items()
        if name.startswith("pooling_mode") and value
    ]
    if modes in ([], ["mean"], ["pooling_mode_mean_tokens"]):
        return None
    return f"pooling by {', '.join(modes)}"


def read_vector_files(folder: Path) -> dict[str, str]:
    """Returns {name: text} of the files that define the vectors of texts.

    They are returned as far as the folder contains them, for a copy of it.
    """
    paths = {name: folder / name for name in _VECTOR_FILES}
    return {
        name: path.read_text("utf-8")
        for name, path in paths.items()
        if path.is_file()
    }
