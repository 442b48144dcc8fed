"""Reads the graph of an object-based checkpoint, which lists its variables.

The graph is an entry of the checkpoint. For each variable, it contains a name,
such as `transformer/layer_0/intermediate/kernel`, and the key of its value.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import trackable_object_graph_pb2

from model_folders.formats.object_based.names import name_of_key
from model_folders.formats.tf1 import (
    check_tf1_files,
    open_tf1_checkpoint,
)

_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_ENDING = "/.ATTRIBUTES/VARIABLE_VALUE"
# Matches the keys and the names of an optimizer's variables.
_OPTIMIZER_KEY = re.compile(r"(?:^|/)(?:\.OPTIMIZER_SLOT|_?optimizer)(?:/|$)")
_OPTIMIZER_NAME = re.compile(
    r"(?:^|/)(?:m|v|average|momentum|velocity)/"
    r"|/(?:m|v|average|momentum|velocity)$"
)


class GraphVariable(NamedTuple):
    """A variable of a checkpoint.

    Attributes:
        name: name in the graph, or the name that `key` shows.
        key: key of the variable's value.
        shape: shape of the value in the file.
        dtype: name of the value's type, such as "float32".
    """

    name: str
    key: str
    shape: list[int]
    dtype: str

    def describe(self) -> str:
        """Returns the name and the shape, for a message."""
        return f"{self.name!r:.200} with shape {self.shape}"


def has_graph(path: str) -> bool:
    """Returns whether the checkpoint with this prefix is object-based.

    Raises:
        OSError: the index of the checkpoint cannot be read.
    """
    with open_tf1_checkpoint(path) as (reader, _):
        return bool(reader.has_tensor(_GRAPH))


def read_casing(path: str) -> bool | None:
    """Returns the value of the variable do_lower_case, None without one.

    Raises:
        OSError: the checkpoint cannot be read.
    """
    key = f"do_lower_case{_ENDING}"
    with open_tf1_checkpoint(path) as (reader, _):
        dtype = reader.get_variable_to_dtype_map().get(key)
        if dtype is None or dtype.name != "bool":
            return None
        if reader.get_variable_to_shape_map()[key]:
            return None
        return bool(reader.get_tensor(key))


def read_variables(path: str) -> list[GraphVariable]:
    """Returns the weights in a checkpoint, without the state of a training.

    Raises:
        OSError: the checkpoint cannot be read.
    """
    check_tf1_files(path)
    with open_tf1_checkpoint(path) as (reader, _):
        shapes = reader.get_variable_to_shape_map()
        dtypes = reader.get_variable_to_dtype_map()
        if shapes.get(_GRAPH, [0]) or dtypes[_GRAPH].name != "string":
            raise _malformed_error(path, f"{_GRAPH} is no string")
        graph = reader.get_tensor(_GRAPH)
    variables = []
    for name, key in _parse_graph(path, graph):
        if key not in shapes:
            raise _malformed_error(path, f"{key!r:.200} is missing")
        variable = GraphVariable(name, key, shapes[key], dtypes[key].name)
        variables.append(variable)
    return [*filter(_is_weight, variables)]


def _is_weight(variable: GraphVariable) -> bool:
    """Returns whether a variable is not a setting or state of the training."""
    is_of_optimizer = _OPTIMIZER_KEY.search(
        variable.key
    ) or _OPTIMIZER_NAME.search(variable.name)
    has_values = variable.shape and "float" in variable.dtype
    return bool(has_values and not is_of_optimizer)


def _parse_graph(path: str, graph: bytes) -> Iterator[tuple[str, str]]:
    """Yields (name, key) of each variable.

    Without names, the keys show the names.
    """
    try:
        nodes = trackable_object_graph_pb2.TrackableObjectGraph.FromString(
            graph
        ).nodes
    except DecodeError as error:
        raise _malformed_error(path, f"{_GRAPH} is malformed") from error
    values = [
        (value.full_name, value.checkpoint_key)
        for node in nodes
        for value in node.attributes
        if value.name == "VARIABLE_VALUE"
    ]
    for name, key in values:
        yield name or name_of_key(key.removesuffix(_ENDING)), key


def _malformed_error(path: str, reason: str) -> OSError:
    return OSError(
        f"The checkpoint {path} cannot be read: {reason}; download it again"
    )
