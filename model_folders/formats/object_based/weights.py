"""Opens object-based weights, which checkpoints/format_readers.py loads.

Model Garden, TF-Hub and transformers wrote these checkpoints. graph.py reads
the variables of a checkpoint, and names.py converts their names to Google's.
"""

import functools
import math
import re
from collections.abc import Callable, Mapping

from model_folders.formats.object_based import names as object_names
from model_folders.formats.object_based.graph import (
    GraphVariable,
    read_variables,
)
from model_folders.formats.shape_checks import encoder_shapes
from model_folders.formats.tf1 import open_tf1_checkpoint
from model_folders.formats.tf_h5 import tf_h5_to_google
from model_folders.formats.weight_entries import (
    NEXT_SENTENCE_POOLER,
    WeightArray,
    WeightEntry,
    printable_name,
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


def open_graph_entries(path: str) -> Mapping[str, WeightEntry]:
    """Returns {Google's name: WeightEntry} of the checkpoint with a prefix.

    The weights of a head of Model Garden's tasks keep their names.

    Raises:
        OSError: the checkpoint cannot be read.
        ValueError: the checkpoint lacks weights of a BERT, or contains other
            weights. The message names the first such weight, and its shape.
    """
    weights: dict[str, GraphVariable] = {}
    heads: dict[str, GraphVariable] = {}
    unknown = []
    variables = read_variables(path)
    convert: Callable[[str], str | None] = object_names.object_to_google
    if any(_TRANSFORMERS_NAME.search(variable.name) for variable in variables):
        convert = tf_h5_to_google
    for variable in variables:
        name = convert(variable.name)
        if name is None and object_names.is_of_other_head(variable.name):
            heads[printable_name(variable.name)] = variable
            continue
        if name is None:
            unknown.append(variable)
            continue
        if name in weights:
            raise ValueError(
                f"{path} contains several encoders: {weights[name].key!r:.200} "
                f"and {variable.key!r:.200} have the same name. Save one "
                "encoder, and use its checkpoint"
            )
        weights[name] = variable
    _check_names(path, weights, unknown)
    weights |= heads
    return {name: _create_entry(path, name, weights[name]) for name in weights}


def _check_names(
    path: str,
    weights: Mapping[str, GraphVariable],
    unknown: list[GraphVariable],
) -> None:
    """Raises a ValueError if a BERT has more variables, or fewer."""
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
    outside = [weights[name] for name in weights.keys() - {*expected}]
    if unknown := [*unknown, *sorted(outside)]:
        raise ValueError(
            f"{path} contains {unknown[0].describe()}, which is no weight of "
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
