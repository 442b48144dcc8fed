"""The signatures `ids` and `tokenize`, which exports of all kinds can have.

`ids` only runs the network, and is in all formats. `tokenize` returns the
WordPieces of a text, in a SavedModel that accepts text.

B = number of inputs, F = length of an input of the network, with padding, in
WordPieces. N = number of texts or pairs of texts, M = length of the longest of
them in WordPieces.
"""

from collections.abc import Mapping

import tensorflow as tf

from data.text.packing_graph import PackingLayer
from exporting import export_formats
from exporting.signature_graphs import (
    PredictFeatures,
    Signature,
    Tensors,
    assert_true,
    text_inputs,
    to_padded,
)
from model_folders.formats.huggingface_config import default_labels
from model_folders.labels import check_labels
from model_folders.model_json import SharedHeadSettings
from model_folders.output_modes import MULTILABEL, REGRESSION
from modeling import ops
from modeling.base_model import BaseModel
from modeling.base_task_model import TaskModel
from modeling.task_models import BertClassifier
from modeling.tensors import Tensor


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
        if not ops.uses_plain_versions():
            checks = _assert_ids_in_range(features, sizes)
        with tf.control_dependencies(checks):
            return predict(
                {name: tf.identity(value) for name, value in features.items()}
            )

    inputs = [
        tf.TensorSpec([None] * model.feature_ranks[name], tf.int32, name=name)
        for name in sizes
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
        checks.append(assert_true(is_valid, reason, lowest, highest))
    return checks


def choose_output_labels(
    model: BertClassifier, head_settings: SharedHeadSettings
) -> list[str]:
    """Returns the names of a model's outputs: `labels` in the settings.

    If the settings name none, returns LABEL_0, LABEL_1 and so on.

    Raises:
        ValueError: the settings name more or fewer labels than the model has
            outputs.
    """
    labels = [
        *(head_settings.get("labels") or default_labels(model.num_labels))
    ]
    # A SavedModel would return the names of other outputs.
    check_labels(labels, num_labels=model.num_labels)
    return labels


def create_label_predictor(
    model: TaskModel[Tensor], exported_output: export_formats.ExportedOutput
) -> PredictFeatures:
    """Returns the function of the signature `ids` of a model with labels.

    `exported_output` is what the function computes from the logits (see
    export_formats.py).
    """

    def predict(features: Tensors) -> Tensors:
        logits = tf.cast(model(features, training=False), tf.float32)
        return compute_outputs(logits, exported_output)

    return predict


def compute_outputs(
    logits: tf.Tensor, exported_output: export_formats.ExportedOutput
) -> Tensors:
    """Computes the outputs of `ids` from logits (see export_formats.py).

    Args:
        logits: float32 [B, L] for L labels, [B, C] or [B, F, L].
        exported_output: what to compute.

    Returns:
        {"logits": tensor} or {"probabilities": tensor}, float32 in the shape of
        the logits, or in regression {"values": float32 [B]}.
    """
    if exported_output == export_formats.LOGITS:
        return {"logits": logits}
    if exported_output == REGRESSION:
        return {"values": logits[:, 0]}
    if exported_output == MULTILABEL:
        return {"probabilities": tf.sigmoid(logits)}
    return {"probabilities": tf.nn.softmax(logits)}


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
            **to_padded({"tokens": names}),
            "lengths": tf.cast(ids.row_lengths(), tf.int32),
            "num_wordpieces": tf.add_n(counts),
        }

    return Signature(tokenize, text_inputs("text_a", "text_b"))
