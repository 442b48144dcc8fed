"""Reads and writes object-based checkpoints.

The names in SHAPES are those of Model Garden's encoders.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import (
    TrackableObjectGraph,
)

from files.paths import StrPath

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


@dataclasses.dataclass
class ObjectCheckpoint:
    """The contents of an object-based checkpoint.

    Attributes:
        values: {key: value} of the variables.
        graph: the objects that have the variables, with the names. Bytes are
            written as they are.
    """

    values: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    graph: TrackableObjectGraph | bytes = dataclasses.field(
        default_factory=TrackableObjectGraph
    )

    @classmethod
    def read(cls, prefix: StrPath) -> Self:
        """Reads the checkpoint whose files have a prefix."""
        reader = tf.train.load_checkpoint(str(prefix))
        keys = reader.get_variable_to_shape_map().keys() - {GRAPH}
        return cls(
            {key: reader.get_tensor(key) for key in keys},
            TrackableObjectGraph.FromString(reader.get_tensor(GRAPH)),
        )

    @property
    def attributes(self) -> list[Any]:
        """The attributes of all nodes, one for each stored variable."""
        assert isinstance(self.graph, TrackableObjectGraph)
        return [value for node in self.graph.nodes for value in node.attributes]

    def add_variable(self, name: str, key: str, value: np.ndarray) -> None:
        """Adds a variable under a key, to which this method adds the ending."""
        assert isinstance(self.graph, TrackableObjectGraph)
        self.values[key + ENDING] = value
        self.graph.nodes.add().attributes.add(
            name="VARIABLE_VALUE", full_name=name, checkpoint_key=key + ENDING
        )

    def write(self, prefix: StrPath) -> None:
        """Writes the files of the checkpoint."""
        graph = self.graph
        if isinstance(graph, TrackableObjectGraph):
            graph = graph.SerializeToString()
        tensors = {**self.values, GRAPH: graph}
        tf.raw_ops.SaveV2(
            prefix=str(prefix),
            tensor_names=[*tensors],
            shape_and_slices=[""] * len(tensors),
            tensors=[*map(tf.convert_to_tensor, tensors.values())],
        )


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
    checkpoint = ObjectCheckpoint()
    for name, value in values.items():
        checkpoint.add_variable(name, (keys or {}).get(name, name), value)
    prefix = str(folder / "ckpt-1")
    checkpoint.write(prefix)
    return prefix
