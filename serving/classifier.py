"""Classifiers over ids and over text, and multiple choice over ids.

N = texts, L = labels, B = batch, C = choices, F = length of an input.
"""

import os
from collections.abc import Callable, Sequence

import keras
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from serving import batches, signatures
from serving.batches import Features
from training.config import ExportConfig


def export_classifier(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    label_list: Sequence[str] | None,
    options: signatures.ServingOptions,
    output_mode: str = "classification",
) -> None:
    """Exports a classifier: `serve` over ids, and two signatures over text.

    `classify` takes `text_a` and `text_b`, string [N]; "" is no second text.
    `classify_text` takes `text` alone. They return

        probabilities  float32 [N, L]
        labels         string [N, L], the names of the probabilities, in the
                       order of labels.txt
        label          string [N], the most probable one; with several labels
                       string [N, L], "" where one does not hold

    or, in regression, `values` alone, float32 [N].

    Of `tokenize` and `attention` see signatures.inspect.

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertClassifier.
        label_list: its labels in order; None in regression.
        options: longer texts are cut.
        output_mode: "classification", "multilabel" or "regression".
    """

    def predict(features: Features) -> Features:
        logits = tf.cast(model(features, training=False), tf.float32)
        if output_mode == "regression":
            return {"values": logits[:, 0]}
        if output_mode == "multilabel":
            return {"probabilities": tf.sigmoid(logits)}
        return {"probabilities": tf.nn.softmax(logits)}

    predict = signatures.trace_once(predict)
    classify = _classify(predict, label_list, options, output_mode)

    def classify_text(text: tf.Tensor) -> Features:
        return classify(text, tf.zeros_like(text))

    endpoints: signatures.Endpoints = {
        "classify": (classify, signatures.text_signature("text_a", "text_b")),
        "classify_text": (classify_text, signatures.text_signature("text")),
    }
    labels = label_list and [*label_list]
    task = {"labels": labels, "output_mode": output_mode}
    signatures.export_text_model(
        export_dir, model, predict, endpoints, options, task
    )


def _classify(
    predict: Callable[..., Features],
    label_list: Sequence[str] | None,
    options: signatures.ServingOptions,
    output_mode: str,
) -> Callable[[tf.Tensor, tf.Tensor], Features]:
    """Returns the function of `classify`; see `export_classifier`."""
    packing = options.packing
    if label_list is None:
        specs = {"values": tf.TensorSpec([None])}
    else:
        specs = {"probabilities": tf.TensorSpec([None, len(label_list)])}

    # One graph for both endpoints.
    @tf.function(
        autograph=False,
        input_signature=signatures.text_signature("text_a", "text_b"),
    )
    def classify(text_a: tf.Tensor, text_b: tf.Tensor) -> Features:
        tokens = packing.tokenize(text_a, text_b)
        num_texts = tf.shape(text_a)[0]
        outputs = batches.call_in_batches(
            lambda begin, end: predict(
                batches.pack_rows(packing, tokens, begin, end)
            ),
            num_texts,
            options.predict_batch_size,
            specs,
        )
        if label_list is None:
            return outputs
        probabilities = outputs["probabilities"]
        labels = tf.tile([label_list], [num_texts, 1])
        if output_mode == "multilabel":
            label = tf.where(probabilities > 0.5, labels, "")
        else:
            label = tf.gather(label_list, tf.argmax(probabilities, -1))
        return {**outputs, "label": label, "labels": labels}

    return classify


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
    serve = signatures.serve_ids(
        signatures.softmax_of(model), model.config, num_dimensions=3
    )
    signatures.export_model(
        export_dir, model, {"serve": serve}, tokenizer, export_options
    )
