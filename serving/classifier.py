"""run_classifier.py's model over ids, and over one or two texts.

N = texts, L = labels.
"""

import os
from collections.abc import Callable, Sequence

import keras
import tensorflow as tf

from data.text.packing_layer import PackingLayer
from data.text.ragged import rows
from serving import export, inspection, signatures
from serving.signatures import Features


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

    Of `tokenize` and `attention` see inspection.py.

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertClassifier.
        label_list: its labels in order; None in regression.
        options: longer texts are cut.
        output_mode: "classification", "multilabel" or "regression".
    """
    packing = options.create_packing()
    signature = signatures.text_signature("text_a", "text_b")

    def predict(features: Features) -> Features:
        logits = tf.cast(model(features, training=False), tf.float32)
        if output_mode == "regression":
            return {"values": logits[:, 0]}
        if output_mode == "multilabel":
            return {"probabilities": tf.sigmoid(logits)}
        return {"probabilities": tf.nn.softmax(logits)}

    predict = signatures.trace_once(predict, options.export)
    classify = _classify(predict, packing, label_list, options, output_mode)

    def classify_text(text: tf.Tensor) -> Features:
        return classify(text, tf.zeros_like(text))

    export.export_saved_model(
        export_dir,
        model,
        {
            "serve": signatures.serve_ids(
                predict, model.config, options.export
            ),
            "classify": (classify, signature),
            "classify_text": (
                classify_text,
                signatures.text_signature("text"),
            ),
            **inspection.inspect(model.bert, packing),
        },
        signatures.bert_files(model, label_list),
        options.export,
        options.tokenizer,
    )


def _classify(
    predict: Callable[[Features], Features],
    packing: PackingLayer,
    label_list: Sequence[str] | None,
    options: signatures.ServingOptions,
    output_mode: str,
) -> Callable[[tf.Tensor, tf.Tensor], Features]:
    """Returns the function of `classify`; see `export_classifier`."""
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

        def classify_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            features = packing.pack(
                *(rows(some, begin, end) for some in tokens)
            )
            return predict(signatures.trim(features))

        outputs = signatures.call_in_batches(
            classify_some,
            tf.shape(text_a)[0],
            options.predict_batch_size,
            specs,
        )
        if label_list is None:
            return outputs
        return outputs | _name_labels(
            outputs["probabilities"], label_list, output_mode
        )

    return classify


def _name_labels(
    probabilities: tf.Tensor, label_list: Sequence[str], output_mode: str
) -> Features:
    """Returns `label` and `labels`; see `export_classifier`."""
    labels = tf.tile([label_list], [tf.shape(probabilities)[0], 1])
    if output_mode == "multilabel":
        label = tf.where(probabilities > 0.5, labels, "")
    else:
        label = tf.gather(label_list, tf.argmax(probabilities, -1))
    return {"label": label, "labels": labels}
