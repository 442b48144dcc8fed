"""Opens the weights of object-based checkpoints.

modeling/checkpoints/converted_checkpoint.py loads them into models.

Model Garden, TF-Hub and transformers wrote these checkpoints. An entry of a
checkpoint is a graph, which lists its variables. For each variable, the graph
contains a name, such as `transformer/layer_0/intermediate/kernel`, and the key
of its value. Without names, the keys show them. object_based_names.py converts
the names of Model Garden's encoders to Google's, and tf_h5_weights.py those of
transformers.
"""

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import trackable_object_graph_pb2

from model_folders.formats.object_based_names import (
    is_of_other_head,
    name_of_key,
    object_to_google,
)
from model_folders.formats.shape_checks import encoder_shapes
from model_folders.formats.tf1_weights import (
    check_tf1_files,
    open_tf1_checkpoint,
)
from model_folders.formats.tf_h5_weights import tf_h5_to_google
from model_folders.formats.weight_entries import (
    NEXT_SENTENCE_POOLER,
    WeightArray,
    WeightEntry,
    printable_name,
)

_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_ENDING = "/.ATTRIBUTES/VARIABLE_VALUE"
# Matches the keys and the names of an optimizer's variables.
_OPTIMIZER_KEY = re.compile(r"(?:^|/)(?:\.OPTIMIZER_SLOT|_?optimizer)(?:/|$)")
_OPTIMIZER_NAME = re.compile(
    r"(?:^|/)(?:m|v|average|momentum|velocity)/"
    r"|/(?:m|v|average|momentum|velocity)$"
)
# Matches a name in what `save_weights` of transformers 4 wrote.
_TRANSFORMERS_NAME = re.compile(r"(?:^|/)bert/embeddings/word_embeddings/\w+$")
# Names of which a checkpoint contains all or none.
_NAMES_STORED_TOGETHER = (
    ("bert/pooler/dense/kernel", "bert/pooler/dense/bias"),
    ("output_weights", "output_bias"),
    ("cls/squad/output_weights", "cls/squad/output_bias"),
    (f"{NEXT_SENTENCE_POOLER}/kernel", f"{NEXT_SENTENCE_POOLER}/bias"),
    (
        "cls/seq_relationship/output_weights",
        "cls/seq_relationship/output_bias",
    ),
    (
        "cls/predictions/output_bias",
        "cls/predictions/transform/dense/kernel",
        "cls/predictions/transform/dense/bias",
        "cls/predictions/transform/LayerNorm/gamma",
        "cls/predictions/transform/LayerNorm/beta",
    ),
)
# Attention has an axis of heads in these checkpoints, and none in Google's.
_HEADS_AXIS_OF_WEIGHT = {
    "self/query/kernel": 1,
    "self/key/kernel": 1,
    "self/value/kernel": 1,
    "self/query/bias": 0,
    "self/key/bias": 0,
    "self/value/bias": 0,
    "output/dense/kernel": 0,
}


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
    """Returns whether the checkpoint with this prefix is object-based."""
    with open_tf1_checkpoint(path) as (reader, _):
        return bool(reader.has_tensor(_GRAPH))


def read_casing(path: str) -> bool | None:
    """Returns the value of the variable do_lower_case, None without one."""
    key = f"do_lower_case{_ENDING}"
    with open_tf1_checkpoint(path) as (reader, _):
        dtype = reader.get_variable_to_dtype_map().get(key)
        if dtype is None or dtype.name != "bool":
            return None
        if reader.get_variable_to_shape_map()[key]:
            return None
        return bool(reader.get_tensor(key))


def open_graph_entries(path: str) -> Mapping[str, WeightEntry]:
    """Returns {Google's name: WeightEntry} of the checkpoint with a prefix.

    The weights of a head of Model Garden's tasks keep their names.

    Raises:
        OSError: the checkpoint cannot be read.
        ValueError: the checkpoint lacks weights of a BERT, or contains other
            weights. The message names the first such weight, and its shape.
    """
    variables = read_variables(path)
    convert = _choose_conversion(variables)
    named: dict[str, GraphVariable] = {}
    heads: dict[str, GraphVariable] = {}
    unknown = []
    for variable in variables:
        if name := convert(variable.name):
            _check_is_single(path, variable, named.get(name))
            named[name] = variable
        elif is_of_other_head(variable.name):
            heads[printable_name(variable.name)] = variable
        else:
            unknown.append(variable)
    _check_names(path, named, unknown)
    return {
        name: _create_entry(path, name, variable)
        for name, variable in (named | heads).items()
    }


def _choose_conversion(
    variables: Iterable[GraphVariable],
) -> Callable[[str], str | None]:
    """Returns the function that converts the names of variables to Google's."""
    if any(_TRANSFORMERS_NAME.search(variable.name) for variable in variables):
        return tf_h5_to_google
    return object_to_google


def _check_is_single(
    path: str, variable: GraphVariable, other: GraphVariable | None
) -> None:
    """Raises a ValueError if another variable has the same name of Google's."""
    if other is not None:
        raise ValueError(
            f"{path} contains several encoders: {other.key!r:.200} and "
            f"{variable.key!r:.200} have the same name. Save one encoder, and "
            "use its checkpoint"
        )


def _check_names(
    path: str,
    weights: Mapping[str, GraphVariable],
    unknown: Sequence[GraphVariable],
) -> None:
    """Raises a ValueError if a BERT has more variables, or fewer.

    Args:
        path: prefix of the checkpoint, for messages.
        weights: {Google's name: variable}.
        unknown: variables that have no name of Google's.
    """
    expected = [name for name, _ in encoder_shapes(_count_blocks(weights))]
    for names in _NAMES_STORED_TOGETHER:
        if weights.keys() & {*names}:
            expected += names
    missing = [name for name in expected if name not in weights]
    if missing:
        first = unknown[0].describe() if unknown else "no other variables"
        raise ValueError(
            f"{path} lacks {missing[0]}, a weight of a BERT. It contains "
            f"{first}. Use the checkpoint of a BERT"
        )
    unexpected = [weights[name] for name in weights.keys() - {*expected}]
    if others := [*unknown, *sorted(unexpected)]:
        raise ValueError(
            f"{path} contains {others[0].describe()}, which is no weight of "
            "a BERT, or of the heads that this program knows. Save the encoder "
            "alone with tf.train.Checkpoint(model=encoder), and use its "
            "checkpoint"
        )


def _count_blocks(names: Mapping[str, object]) -> int:
    blocks = re.compile(r"bert/encoder/(layer_\d+)/")
    return len({match[1] for match in map(blocks.match, names) if match})


def _create_entry(path: str, name: str, variable: GraphVariable) -> WeightEntry:
    """Returns the entry of a variable, in the shape that Google's code uses.

    For example, the query kernel of 12 heads, [768, 12, 64] in the file, is an
    entry of [768, 768].
    """
    shape = [*variable.shape]
    num_heads = None
    axis = _HEADS_AXIS_OF_WEIGHT.get(name.partition("/attention/")[2])
    if axis is not None and len(shape) == 2 + name.endswith("/kernel"):
        num_heads = shape[axis]
        shape[axis : axis + 2] = [math.prod(shape[axis : axis + 2])]
    is_transposed = name.endswith("output_weights")
    return WeightEntry(
        shape=shape[::-1] if is_transposed else shape,
        dtype=variable.dtype,
        read=functools.partial(
            _read_variable, path, variable.key, shape, is_transposed
        ),
        num_heads=num_heads,
    )


def _read_variable(
    path: str, key: str, shape: list[int], is_transposed: bool
) -> WeightArray:
    with open_tf1_checkpoint(path) as (reader, _):
        value: WeightArray = reader.get_tensor(key).reshape(shape)
    return value.T if is_transposed else value


def read_variables(path: str) -> list[GraphVariable]:
    """Returns the weights in a checkpoint, without the state of a training."""
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
