"""Creates networks that are small enough for tests, their batches and tensors.

For example:

    model = built(modeling.BertModel(tiny_config()))
    assert as_lists((integers([1, 2]), 3)) == ([1, 2], 3)
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import keras
import numpy as np
from numpy.typing import NDArray

import modeling
from modeling.tensors import Tensor

ModelT = TypeVar("ModelT", bound=keras.Model)
NestedT = TypeVar("NestedT")

# The network of most tests of the scripts.
TINY: dict[str, Any] = {
    "vocab_size": 1600,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
# The smallest network that has every part.
SMALL = modeling.BertConfig(
    16,
    hidden_size=4,
    num_hidden_layers=1,
    num_attention_heads=1,
    intermediate_size=4,
    max_position_embeddings=8,
    type_vocab_size=2,
)


def write_config(path: Path, **changes: object) -> Path:
    """Writes the configuration of TINY with changed values. Returns `path`."""
    path.write_text(json.dumps(TINY | changes))
    return path


def tiny_config(**changes: Any) -> modeling.BertConfig:
    """Returns a small configuration, with weights large enough to matter."""
    sizes: dict[str, Any] = {
        "vocab_size": 50,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 64,
        "initializer_range": 0.3,
    }
    sizes |= changes
    sizes.setdefault("intermediate_size", 2 * sizes["hidden_size"])
    return modeling.BertConfig(**sizes)


def built(model: ModelT) -> ModelT:
    """Builds a model, and returns it."""
    model.build()
    return model


def create_batch(
    lengths: Sequence[int], length: int
) -> dict[str, NDArray[np.int32]]:
    """Returns int32 features of sequences with padding, for `tiny_config`."""
    mask = np.arange(length) < np.array(lengths)[:, None]
    ids = np.random.default_rng(0).integers(1, 50, mask.shape) * mask
    features = {"input_ids": ids, "input_mask": mask, "segment_ids": ids % 2}
    return {name: value.astype(np.int32) for name, value in features.items()}


def integers(values: list[int] | list[list[int]]) -> Tensor:
    """Returns an int32 tensor of these values."""
    return keras.ops.convert_to_tensor(values, dtype="int32")


def as_lists(nested: NestedT) -> NestedT:
    """Returns nested tuples of tensors as the same tuples of lists."""
    lists: NestedT = keras.tree.map_structure(
        lambda value: np.asarray(keras.ops.convert_to_numpy(value)).tolist(),
        nested,
    )
    return lists
