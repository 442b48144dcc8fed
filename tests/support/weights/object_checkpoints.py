"""Object-based checkpoints with the names of Model Garden's encoders."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import (
    TrackableObjectGraph,
)

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
ENDING = "/.ATTRIBUTES/VARIABLE_VALUE"
BLOCK = "transformer/layer_0/"
ATTENTION = f"{BLOCK}self_attention/"
# {name in Model Garden: shape} of an encoder of one block: width 4, two heads.
SHAPES = {
    "word_embeddings/embeddings": [9, 4],
    "position_embedding/embeddings": [6, 4],
    "type_embeddings/embeddings": [2, 4],
    "embeddings/layer_norm/gamma": [4],
    "embeddings/layer_norm/beta": [4],
    f"{ATTENTION}query/kernel": [4, 2, 2],
    f"{ATTENTION}query/bias": [2, 2],
    f"{ATTENTION}key/kernel": [4, 2, 2],
    f"{ATTENTION}key/bias": [2, 2],
    f"{ATTENTION}value/kernel": [4, 2, 2],
    f"{ATTENTION}value/bias": [2, 2],
    f"{ATTENTION}attention_output/kernel": [2, 2, 4],
    f"{ATTENTION}attention_output/bias": [4],
    f"{BLOCK}self_attention_layer_norm/gamma": [4],
    f"{BLOCK}self_attention_layer_norm/beta": [4],
    f"{BLOCK}intermediate/kernel": [4, 5],
    f"{BLOCK}intermediate/bias": [5],
    f"{BLOCK}output/kernel": [5, 4],
    f"{BLOCK}output/bias": [4],
    f"{BLOCK}output_layer_norm/gamma": [4],
    f"{BLOCK}output_layer_norm/beta": [4],
}


def create_values() -> dict[str, np.ndarray]:
    """Returns {name: value} of the encoder, in which all numbers differ."""
    numbers = iter(np.arange(1000, dtype=np.float32))
    return {
        name: np.array(
            [next(numbers) for _ in range(np.prod(shape))], np.float32
        ).reshape(shape)
        for name, shape in SHAPES.items()
    }


def write_checkpoint(
    folder: Path,
    values: Mapping[str, np.ndarray],
    keys: Mapping[str, str] | None = None,
) -> str:
    """Writes the checkpoint of {name: value} variables. Returns its prefix.

    `keys` are {name: key}. Other variables have their name as key.
    """
    graph = TrackableObjectGraph()
    tensors: dict[str, np.ndarray | bytes] = {}
    for name, value in values.items():
        key = (keys or {}).get(name, name) + ENDING
        tensors[key] = value
        graph.nodes.add().attributes.add(
            name="VARIABLE_VALUE", full_name=name, checkpoint_key=key
        )
    tensors[GRAPH] = graph.SerializeToString()
    prefix = str(folder / "ckpt-1")
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=[*tensors],
        shape_and_slices=[""] * len(tensors),
        tensors=[*map(tf.convert_to_tensor, tensors.values())],
    )
    return prefix
