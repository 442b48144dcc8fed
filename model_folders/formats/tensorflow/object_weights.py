"""Finds object-based checkpoints: Model Garden's, TF-Hub's, transformers'.

object_entries.py opens them.
"""

import os
from collections.abc import Mapping

from files.paths import StrPath
from model_folders.checkpoint_folders import find_tf1_checkpoint
from model_folders.formats.tensorflow import object_config
from model_folders.formats.weight_entries import WeightEntry


def find_object_weights(path: StrPath) -> str | None:
    """Returns the prefix of the checkpoint at a path, None for other formats.

    Raises:
        OSError: the index of a checkpoint cannot be read.
    """
    prefix = _find_prefix(os.fspath(path))
    if prefix is None:
        return None
    # Import late, because this module needs TensorFlow, which other backends of
    # Keras lack, and which other formats do not need.
    from model_folders.formats.tensorflow.object_graph import has_graph

    return prefix if has_graph(prefix) else None


def _find_prefix(path: str) -> str | None:
    if not os.path.isdir(path):
        return path if os.path.isfile(f"{path}.index") else None
    if object_config.is_saved_encoder(path):
        return os.path.join(path, object_config.VARIABLES_PREFIX)
    if os.path.isfile(os.path.join(path, object_config.MODEL_JSON_FILE)):
        # This project writes TF1 checkpoints only.
        return None
    try:
        return find_tf1_checkpoint(path, contents={})
    except (FileNotFoundError, ValueError):
        return None


def open_object_entries(path: str) -> Mapping[str, WeightEntry]:
    """Returns {Google's name: WeightEntry} of an object-based checkpoint.

    Args:
        path: result of `find_object_weights`.

    Raises:
        OSError, ValueError: as `open_graph_entries` raises them.
    """
    # Import late, as in `find_object_weights`.
    from model_folders.formats.tensorflow.object_entries import (
        open_graph_entries,
    )

    return open_graph_entries(path)
