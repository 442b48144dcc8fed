"""A signature of an export, and all signatures of a model.

B = number of inputs, C = choices, T = length of an input in WordPieces, with
padding, N = number of texts.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar, TypeVarTuple

import tensorflow as tf

from exporting import export_formats
from model_folders import output_modes
from model_folders.head_settings import HeadSettings
from modeling import ops

Tensors: TypeAlias = dict[str, tf.Tensor]
OutputsT = TypeVar("OutputsT")
InputsT = TypeVarTuple("InputsT")

# Function from the features of a batch, int32 [B, T] each, to outputs of the
# network. Multiple choice has features [B, C, T] of C choices.
PredictFeatures: TypeAlias = Callable[[Tensors], Tensors]


class Signature(NamedTuple):
    """A signature of an export: a function that a SavedModel contains.

    Attributes:
        function: function from tensors to {name of an output: tensor}.
        inputs: the specs of the function's arguments.
    """

    function: Callable[..., Tensors]
    inputs: Sequence[tf.TensorSpec]


# {name of a signature: Signature}
Signatures: TypeAlias = dict[str, Signature]


@dataclasses.dataclass(frozen=True)
class ExportSignatures:
    """The signatures of a model's export, and the settings that they need.

    Attributes:
        predict: function of the signature `ids`, which all formats contain.
        text_signatures: the signatures that accept text, the main one first. {}
            if the export accepts only ids.
        head_settings: settings of the head, to record in the export's
            model.json.
        exported_output: what `ids` computes from the logits (see
            export_formats.py).
    """

    predict: PredictFeatures
    text_signatures: Signatures = dataclasses.field(default_factory=dict)
    head_settings: HeadSettings = dataclasses.field(
        default_factory=HeadSettings
    )
    exported_output: export_formats.ExportedOutput = output_modes.CLASSIFICATION


def text_inputs(*names: str) -> list[tf.TensorSpec]:
    """Returns a TensorSpec, string [N], for each name of a text input."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def share_graph(
    function: Callable[[*InputsT], OutputsT],
) -> Callable[[*InputsT], OutputsT]:
    """Wraps a function, so that all signatures call the same traced graph.

    Otherwise each signature of a SavedModel would contain its own copy of the
    graph. The function converts tensors, or dicts of tensors, to tensors.
    """
    traced = tf.function(function, autograph=False)

    def call(*inputs: *InputsT) -> OutputsT:
        if ops.uses_plain_versions():
            # An export for LiteRT contains only one signature, so it contains
            # only one copy of the graph.
            return function(*inputs)
        specs = tf.nest.map_structure(
            lambda tensor: tf.TensorSpec(
                [None] * tensor.shape.rank, tensor.dtype
            ),
            inputs,
        )
        outputs: OutputsT = traced.get_concrete_function(*specs)(*inputs)
        return outputs

    return call
