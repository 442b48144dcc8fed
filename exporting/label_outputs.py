"""Computes the outputs of the signature `ids` for a model with labels.

B = number of inputs, C = choices, T = length of an input in WordPieces, with
padding, L = labels.
"""

import tensorflow as tf

from exporting import export_formats
from exporting.signatures import PredictFeatures, Tensors
from model_folders import output_modes
from model_folders.formats.huggingface_config import default_labels
from model_folders.head_settings import HeadSettings
from model_folders.labels import check_labels
from modeling.base_task_model import TaskModel
from modeling.task_models import BertClassifier
from modeling.tensors import Tensor


def choose_output_labels(
    model: BertClassifier, head_settings: HeadSettings
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
        logits: float32 [B, L] for L labels, [B, C] or [B, T, L].
        exported_output: what to compute.

    Returns:
        {"logits": tensor} or {"probabilities": tensor}, float32 in the shape of
        the logits, or in regression {"values": float32 [B]}.
    """
    if exported_output == export_formats.LOGITS:
        return {"logits": logits}
    if exported_output == output_modes.REGRESSION:
        return {"values": logits[:, 0]}
    if exported_output == output_modes.MULTILABEL:
        return {"probabilities": tf.sigmoid(logits)}
    return {"probabilities": tf.nn.softmax(logits)}
