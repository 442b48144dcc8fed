"""Writes folders in Hugging Face's format, like the recorded ones.

For example:

    change_weights(folder, {"more.weight": (2, 3)}, removed=HEAD)
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from tests.support.paths import ROOT

RECORDED = ROOT / "tests/testdata/huggingface"
CONFIG = json.loads((RECORDED / "BertModel/config.json").read_text())
V, W, POSITIONS = (
    CONFIG[name]
    for name in ("vocab_size", "hidden_size", "max_position_embeddings")
)


# Names of the weights of a head.
HEAD = ("classifier.weight", "classifier.bias")


def write_huggingface_files(
    folder: Path, tensors: dict[str, NDArray[Any]], **changes: object
) -> Path:
    """Writes weights, and CONFIG with changed entries. Returns the folder."""
    safetensors.numpy.save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}))
    return folder


def change_weights(
    folder: Path,
    added: Mapping[str, tuple[int, ...]],
    removed: Iterable[str] = (),
) -> None:
    """Removes and adds weights of a Hugging Face folder.

    `added` is {name: shape} of weights that are 0.
    """
    file = folder / "model.safetensors"
    tensors = safetensors.numpy.load_file(file)
    for name in removed:
        del tensors[name]
    zeros = {name: np.zeros(shape, "f4") for name, shape in added.items()}
    safetensors.numpy.save_file(tensors | zeros, file)
