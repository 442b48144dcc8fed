"""Writes folders in Hugging Face's format, like the recorded ones.

For example:

    change_weights(folder, {"more.weight": (2, 3)}, removed=HEAD)
    assert_same_weights(folder, copy_of_folder)
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
VOCAB_SIZE, WIDTH, NUM_POSITIONS = (
    CONFIG[name]
    for name in ("vocab_size", "hidden_size", "max_position_embeddings")
)
# A vocabulary of the recorded models, and the labels of their heads.
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "film", "Film"]
TOKENS += [f"[unused{index}]" for index in range(VOCAB_SIZE - len(TOKENS))]
LABELS = ["no", "yes", "maybe"]
# Names of the weights of a head.
HEAD = ("classifier.weight", "classifier.bias")


def write_vocab(path: Path, tokens: Iterable[str] = TOKENS) -> str:
    """Writes a vocabulary. Returns its path, as a flag names it."""
    path.write_text("".join(f"{token}\n" for token in tokens), "utf-8")
    return str(path)


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


def assert_same_weights(actual: Path, expected: Path) -> None:
    """Checks that two folders contain the same weights, to the bit."""
    tensors, expected_tensors = (
        safetensors.numpy.load_file(folder / "model.safetensors")
        for folder in (actual, expected)
    )
    # Older files contain the positions, which are no weights.
    expected_tensors.pop("embeddings.position_ids", None)
    assert tensors.keys() == expected_tensors.keys()
    for name, value in expected_tensors.items():
        assert tensors[name].dtype == value.dtype
        np.testing.assert_array_equal(tensors[name], value)
