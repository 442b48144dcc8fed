"""Defines the parts that the signatures of all tasks use.

N = number of texts or pairs of texts, F = length of an input of the network in
WordPieces, with padding, B = number of inputs that the network runs on at a
time.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar, TypeVarTuple

import tensorflow as tf

from model_folders.config_files import default_labels
from model_folders.labels import check_labels
from model_folders.model_entries import HeadSettings
from modeling import overriding
from modeling.base_model import FeaturesModel
from modeling.base_task_model import TaskModel
from modeling.task_models import BertClassifier
from modeling.tensors import Tensor
from serving import engines, head_outputs
from serving.exporting.signatures import batches
from serving.exporting.signatures.batches import Tensors

T = TypeVar("T")
InputsT = TypeVarTuple("InputsT")


class Endpoint(NamedTuple):
    """A signature of an export.

    Attributes:
        function: function from tensors to {name of an output: tensor}.
        inputs: the specs of the function's arguments.
    """

    function: Callable[..., Tensors]
    inputs: Sequence[tf.TensorSpec]


Endpoints = dict[str, Endpoint]


@dataclasses.dataclass(frozen=True)
class ExportHead:
    """The functions and settings that the export of a model contains.

    Attributes:
        predict: function from the features of a batch to the outputs of the
            signature `ids`.
        endpoints: the signatures that accept text, the main one first. {} if
            the export accepts only ids.
        settings: settings of the head, to record in the export's model.json.
        output_kind: what the head computes from its logits (see
            head_outputs.py).
    """

    predict: Callable[[Tensors], Tensors]
    endpoints: Endpoints = dataclasses.field(default_factory=dict)
    settings: HeadSettings = dataclasses.field(default_factory=HeadSettings)
    output_kind: head_outputs.OutputKind = head_outputs.CLASSIFICATION


def text_inputs(*names: str) -> list[tf.TensorSpec]:
    """Returns a TensorSpec, string [N], for each name of a text input."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def create_ids_endpoint(
    function: Callable[[Tensors], Tensors], model: FeaturesModel
) -> Endpoint:
    """Creates the endpoint `ids`, which accepts WordPiece ids.

    Its inputs are `input_ids`, `input_mask` and `segment_ids`, as in Google's
    BERT, int32 [B, F], or [B, C, F] for C choices. In a SavedModel, the
    endpoint fails on ids outside the model's range. In LiteRT, it does not
    check ids, and invalid ids read arbitrary embeddings.

    Args:
        function: function from a dict of the inputs to a dict of outputs.
        model: a BertModel, or a model from modeling.task_models.
    """
    sizes = {
        "input_ids": model.config.vocab_size,
        "input_mask": 2,
        "segment_ids": model.config.type_vocab_size,
    }

    def serve(
        input_ids: tf.Tensor, input_mask: tf.Tensor, segment_ids: tf.Tensor
    ) -> Tensors:
        values = (input_ids, input_mask, segment_ids)
        features = dict(zip(sizes, values, strict=True))
        checks = [] if overriding.is_plain() else _assert_sizes(features, sizes)
        with tf.control_dependencies(checks):
            return function(
                {name: tf.identity(value) for name, value in features.items()}
            )

    inputs = [
        tf.TensorSpec([None] * model.feature_ranks[name], tf.int32, name=name)
        for name in engines.ONNX_NAME_OF_INPUT
    ]
    return Endpoint(serve, inputs)


def _assert_sizes(
    features: Tensors, sizes: Mapping[str, int]
) -> list[tf.Operation]:
    """Returns operations that fail on ids outside the model's range."""
    checks = []
    for name, size in sizes.items():
        lowest = tf.reduce_min(features[name])
        highest = tf.reduce_max(features[name])
        reason = f"{name} must be from 0 to {size - 1}. Lowest, highest:"
        is_valid = (lowest >= 0) & (highest < size)
        checks.append(batches.assert_true(is_valid, reason, lowest, highest))
    return checks


def share_graph(function: Callable[[*InputsT], T]) -> Callable[[*InputsT], T]:
    """Wraps a function, so that all signatures call the same traced graph.

    Otherwise each signature of a SavedModel would contain its own copy of the
    graph. The function converts tensors, or dicts of tensors, to tensors.
    """
    traced = tf.function(function, autograph=False)

    def call(*inputs: *InputsT) -> T:
        if overriding.is_plain():
            # An export for LiteRT contains only one signature, so it contains
            # only one copy of the graph.
            return function(*inputs)
        specs = tf.nest.map_structure(
            lambda tensor: tf.TensorSpec(
                [None] * tensor.shape.rank, tensor.dtype
            ),
            inputs,
        )
        outputs: T = traced.get_concrete_function(*specs)(*inputs)
        return outputs

    return call


def output_labels(model: BertClassifier, settings: HeadSettings) -> list[str]:
    """Returns the names of a model's outputs: `labels` in the settings.

    If the settings name none, returns LABEL_0, LABEL_1 and so on.

    Raises:
        ValueError: the settings name more or fewer labels than the model has
            outputs.
    """
    labels = [*(settings.get("labels") or default_labels(model.num_labels))]
    # A SavedModel would answer with the names of other outputs.
    check_labels(labels, num_labels=model.num_labels)
    return labels


def predict_labels(
    model: TaskModel[Tensor], output_kind: head_outputs.OutputKind
) -> Callable[[Tensors], Tensors]:
    """Returns the function of the signature `ids` for a head of labels.

    `output_kind` is what the head computes from its logits (see
    head_outputs.py).
    """

    def predict(features: Tensors) -> Tensors:
        logits = tf.cast(model(features, training=False), tf.float32)
        return from_logits(logits, output_kind)

    return predict


def from_logits(
    logits: tf.Tensor, output_kind: head_outputs.OutputKind
) -> Tensors:
    """Returns the outputs of a head of labels (see head_outputs.py)."""
    if output_kind == head_outputs.LOGITS:
        return {"logits": logits}
    if output_kind == head_outputs.REGRESSION:
        return {"values": logits[:, 0]}
    if output_kind == head_outputs.MULTILABEL:
        return {"probabilities": tf.sigmoid(logits)}
    return {"probabilities": tf.nn.softmax(logits)}
