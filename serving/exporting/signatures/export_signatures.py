"""Defines the options and the signatures of an export.

The signatures `ids` and `tokenize` do not depend on the task. All other
signatures use the functions after them.

N = number of texts or pairs of texts, M = length of the longest of them, F =
length of an input of the network, with padding, both in WordPieces, B = number
of inputs that the network runs on at a time.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, TypeVar, TypeVarTuple

import tensorflow as tf

from data.text.packing_layer import PackingLayer
from data.text.tokenization import FullTokenizer
from files.paths import StrPath
from model_folders.formats.huggingface.config import default_labels
from model_folders.labels import check_labels
from model_folders.model_json_types import HeadSettings
from model_folders.reading.presets import Preset
from modeling import dispatch
from modeling.base_model import BaseModel
from modeling.base_task_model import TaskModel
from modeling.task_models import BertClassifier
from modeling.tensors import Tensor
from serving import engines
from serving.engines import ExportFormat, exported_outputs
from serving.exporting.signatures import batching_graph
from serving.exporting.signatures.batching_graph import Tensors

OutputsT = TypeVar("OutputsT")
InputsT = TypeVarTuple("InputsT")

# Function from the features of a batch, int32 [B, F] each, to outputs of the
# network. Multiple choice has features [B, C, F] of C choices.
PredictFeatures: TypeAlias = Callable[[Tensors], Tensors]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of an export that do not depend on the kind of the model.

    Attributes:
        tokenizer: tokenizer of the model. None exports only the signature
            `ids`.
        max_seq_length: maximum number of WordPieces in an input or a window.
        predict_batch_size: maximum number of inputs in one batch of the
            network, to limit the memory of a large request.
        formats: formats of the network to write.
        fixed_length: fixed length of inputs in formats other than
            "saved_model". None allows any length.
        quantize: "int8" to quantize formats other than "saved_model", or None.
        weights: checkpoint or folder of the weights, or the Preset of this
            folder. The folder's model.json becomes part of the export's
            model.json. None if the weights come from no folder.
    """

    tokenizer: FullTokenizer | None = None
    max_seq_length: int = 128
    predict_batch_size: int = 32
    formats: Sequence[ExportFormat] = ("saved_model",)
    fixed_length: int | None = None
    quantize: Literal["int8"] | None = None
    weights: StrPath | Preset | None = None

    def __post_init__(self) -> None:
        """Checks that all engines of the export tokenize alike."""
        if self.tokenizer and self.tokenizer.special_words:
            raise ValueError(
                "an export tokenizes as Google's code, which splits [MASK] "
                "and other special tokens in a text. Create the tokenizer "
                "without special_tokens_in_strings"
            )

    @functools.cached_property
    def packing(self) -> PackingLayer:
        """The layer that turns texts into padded inputs of the network."""
        assert self.tokenizer
        return PackingLayer(self.tokenizer.layer, self.max_seq_length)


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
        settings: settings of the head, to record in the export's model.json.
        exported_output: what `ids` computes from the logits (see
            exported_outputs.py).
    """

    predict: PredictFeatures
    text_signatures: Signatures = dataclasses.field(default_factory=dict)
    settings: HeadSettings = dataclasses.field(default_factory=HeadSettings)
    exported_output: exported_outputs.ExportedOutput = (
        exported_outputs.CLASSIFICATION
    )


def text_inputs(*names: str) -> list[tf.TensorSpec]:
    """Returns a TensorSpec, string [N], for each name of a text input."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def create_ids_signature(
    predict: PredictFeatures, model: BaseModel
) -> Signature:
    """Creates the signature `ids`, which accepts WordPiece ids.

    Its inputs are `input_ids`, `input_mask` and `segment_ids`, as in Google's
    BERT, int32 [B, F], or [B, C, F] for C choices. In a SavedModel, the
    signature fails on ids outside the model's range. In LiteRT, it does not
    check ids, and invalid ids read arbitrary embeddings.

    Args:
        predict: function that computes the outputs.
        model: model to export, which determines the shape and the range of ids.
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
        checks = []
        if not dispatch.uses_plain_versions():
            checks = _assert_ids_in_range(features, sizes)
        with tf.control_dependencies(checks):
            return predict(
                {name: tf.identity(value) for name, value in features.items()}
            )

    inputs = [
        tf.TensorSpec([None] * model.feature_ranks[name], tf.int32, name=name)
        for name in engines.ONNX_NAME_OF_INPUT
    ]
    return Signature(serve, inputs)


def _assert_ids_in_range(
    features: Tensors, sizes: Mapping[str, int]
) -> list[tf.Operation]:
    """Returns operations that fail on ids outside the model's range."""
    checks = []
    for name, size in sizes.items():
        lowest = tf.reduce_min(features[name])
        highest = tf.reduce_max(features[name])
        reason = f"{name} must be from 0 to {size - 1}. Lowest, highest:"
        is_valid = (lowest >= 0) & (highest < size)
        checks.append(
            batching_graph.assert_true(is_valid, reason, lowest, highest)
        )
    return checks


def create_tokenize_signature(packing: PackingLayer) -> Signature:
    """Returns the signature `tokenize`.

    Its inputs are `text_a` and `text_b`, string [N]. A `text_b` of "" means no
    second text. `tokenize` returns

        tokens          string [N, M], the tokens that the model reads, with
                        [CLS] and [SEP], "" at positions of padding
        lengths         int32 [N], the number of tokens
        num_wordpieces  int32 [N], number of WordPieces of both texts before
                        long texts are cut
    """
    vocab = packing.tokenizer.vocab

    def tokenize(text_a: tf.Tensor, text_b: tf.Tensor) -> Tensors:
        tokens = packing.tokenize(text_a, text_b)
        ids = packing.join(*tokens).ids
        names = ids.with_flat_values(tf.gather(vocab, ids.flat_values))
        counts = [tf.cast(texts.row_lengths(), tf.int32) for texts in tokens]
        return {
            **batching_graph.to_padded({"tokens": names}),
            "lengths": tf.cast(ids.row_lengths(), tf.int32),
            "num_wordpieces": tf.add_n(counts),
        }

    return Signature(tokenize, text_inputs("text_a", "text_b"))


def share_graph(
    function: Callable[[*InputsT], OutputsT],
) -> Callable[[*InputsT], OutputsT]:
    """Wraps a function, so that all signatures call the same traced graph.

    Otherwise each signature of a SavedModel would contain its own copy of the
    graph. The function converts tensors, or dicts of tensors, to tensors.
    """
    traced = tf.function(function, autograph=False)

    def call(*inputs: *InputsT) -> OutputsT:
        if dispatch.uses_plain_versions():
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


def find_output_labels(
    model: BertClassifier, settings: HeadSettings
) -> list[str]:
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


def create_label_predictor(
    model: TaskModel[Tensor], exported_output: exported_outputs.ExportedOutput
) -> PredictFeatures:
    """Returns the function of the signature `ids` of a model with labels.

    `exported_output` is what the function computes from the logits (see
    exported_outputs.py).
    """

    def predict(features: Tensors) -> Tensors:
        logits = tf.cast(model(features, training=False), tf.float32)
        return compute_outputs(logits, exported_output)

    return predict


def compute_outputs(
    logits: tf.Tensor, exported_output: exported_outputs.ExportedOutput
) -> Tensors:
    """Computes the outputs of `ids` from logits (see exported_outputs.py).

    Args:
        logits: float32 [B, L] for L labels, [B, C] or [B, F, L].
        exported_output: what to compute.

    Returns:
        {"logits": tensor} or {"probabilities": tensor}, float32 in the shape of
        the logits, or in regression {"values": float32 [B]}.
    """
    if exported_output == exported_outputs.LOGITS:
        return {"logits": logits}
    if exported_output == exported_outputs.REGRESSION:
        return {"values": logits[:, 0]}
    if exported_output == exported_outputs.MULTILABEL:
        return {"probabilities": tf.sigmoid(logits)}
    return {"probabilities": tf.nn.softmax(logits)}
