"""run_swag.py's model over ids.

B = batch, C = choices, F = length of an input.
"""

import os

import keras
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from serving import export, signatures
from serving.signatures import Features
from training.config import ExportConfig


def export_multiple_choice(
    export_dir: str | os.PathLike,
    model: keras.Model,
    tokenizer: FullTokenizer,
    export_options: ExportConfig | None = None,
) -> None:
    """Exports a multiple-choice model as one signature, `serve`.

    `serve` takes `input_ids`, `input_mask` and `segment_ids`, int32
    [B, C, F]. It returns `probabilities` of the choices, float32 [B, C].

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertMultipleChoice.
        tokenizer: FullTokenizer of the model, whose files go with it.
        export_options: format of the export; None for a SavedModel.
    """

    def predict(features: Features) -> Features:
        logits = tf.cast(model(features, training=False), tf.float32)
        return {"probabilities": tf.nn.softmax(logits)}

    export.export_saved_model(
        export_dir,
        model,
        {
            "serve": signatures.serve_ids(
                predict, model.config, export_options, num_dimensions=3
            )
        },
        signatures.bert_files(model),
        export_options,
        tokenizer,
    )
