"""Exports classifiers and multiple-choice models.

A classifier gets signatures for WordPiece ids, and signatures for text. A
multiple-choice model gets only a signature for ids.

N = number of texts, L = labels, B = batch size, C = choices, F = WordPieces in
an input, W = windows.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from data.classification import windows
from data.classification.windows import WindowOptions
from data.text.packing_layer import cut_windows
from data.text.tokenization import FullTokenizer
from modeling.checkpoints.names import original_name
from serving import batches, signatures
from serving.batches import Features
from training.config import ExportConfig


def export_classifier(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    label_list: Sequence[str] | None,
    options: signatures.ServingOptions,
    output_mode: str = "classification",
    window_options: WindowOptions | None = None,
    temperature: float = 1.0,
    thresholds: Mapping[str, float] | None = None,
) -> None:
    """Exports a classifier: `serve` accepts ids, `classify*` accepts text.

    The inputs of `classify` are `text_a` and `text_b`, string [N]. A `text_b`
    of "" means no second text. The only input of `classify_text` is `text`.
    With a `doc_stride` in `window_options`, both signatures read a text in
    windows, pool the windows' outputs, and accept no second text. Both return

        probabilities  float32 [N, L]
        labels         string [N, L], the name of each probability, in the
                       order of labels.txt
        label          string [N], the most probable label. For "multilabel",
                       string [N, L], "" for a label below its threshold

    In regression, both return only `values`, float32 [N].

    `signatures.inspect` adds the signatures `tokenize` and `attention`.

    Args:
        export_dir: folder to write. It appears when it is complete.
        model: BertClassifier to export.
        label_list: labels in the order of the model's outputs, or None in
            regression.
        options: ServingOptions. Texts longer than `options.max_seq_length` are
            cut, unless `window_options` sets a `doc_stride`.
        output_mode: "classification", "multilabel" or "regression".
        window_options: how to read long texts in windows, or None to cut them.
        temperature: number by which the exported model divides its logits.
        thresholds: {label: threshold} for "multilabel", or None for 0.5 each.
    """
    window_options = window_options or WindowOptions()

    def predict(features: Features) -> Features:
        logits = tf.cast(model(features, training=False), tf.float32)
        if output_mode == "regression":
            return {"values": logits[:, 0]}
        if output_mode == "multilabel":
            return {"probabilities": tf.sigmoid(logits)}
        return {"probabilities": tf.nn.softmax(logits)}

    predict = signatures.trace_once(predict)
    packing, stride = options.packing, window_options.doc_stride
    names = ["text_a"] if stride else ["text_a", "text_b"]
    inputs = signatures.text_signature(*names)
    limits = [(thresholds or {}).get(name, 0.5) for name in label_list or ()]

    # Use tf.function, so that both endpoints call one graph of the network.
    @tf.function(autograph=False, input_signature=inputs)
    def classify(*texts: tf.Tensor) -> Features:
        tokens = packing.tokenize(*texts)
        num_texts = num_rows = tf.shape(texts[0])[0]
        if stride:
            length = packing.max_seq_length
            found = cut_windows(tokens[0], length, stride, fewest=1)
            num_rows = tf.size(found.rows)

        def predict_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            if not stride:
                return predict(batches.pack_rows(packing, tokens, begin, end))
            some = found.slice(begin, end)
            return predict(batches.trim(some.pack(packing.tokenizer, length)))

        outputs = batches.call_in_batches(
            predict_some, num_rows, options.predict_batch_size
        )
        if stride:
            outputs = {
                name: _pool(
                    *(value, found.rows, num_texts),
                    *(output_mode, window_options, temperature),
                )
                for name, value in outputs.items()
            }
        if label_list is None:
            return outputs
        probabilities = outputs["probabilities"]
        labels = tf.tile([label_list], [num_texts, 1])
        if output_mode == "multilabel":
            label = tf.where(probabilities > limits, labels, "")
        else:
            label = tf.gather(label_list, tf.argmax(probabilities, -1))
        return {**outputs, "label": label, "labels": labels}

    def classify_text(text: tf.Tensor) -> Features:
        return classify(text, *[tf.zeros_like(text) for _ in names[1:]])

    endpoints: signatures.Endpoints = {
        "classify": (classify, inputs),
        "classify_text": (classify_text, signatures.text_signature("text")),
    }
    labels = label_list and [*label_list]
    task: dict[str, Any] = {
        "labels": labels,
        "output_mode": output_mode,
        "doc_stride": window_options.doc_stride,
        "window_pooling": window_options.window_pooling,
    }
    if thresholds:
        task["thresholds"] = dict(thresholds)
    if temperature != 1:
        # The exported weights already contain the temperature. Record it too,
        # because tasks/texts.py needs it to pool the outputs of windows.
        task["temperature"] = temperature
    with _divided_outputs(model, temperature):
        signatures.export_model(
            export_dir, model, predict, endpoints, options, task
        )


@contextlib.contextmanager
def _divided_outputs(model: keras.Model, temperature: float) -> Iterator[None]:
    """Divides the weights and the bias of the output layer in a `with` block.

    A model that is exported in the block then outputs logits divided by the
    temperature, although its graph contains no division.
    """
    names = ("output_weights", "output_bias") if temperature != 1 else ()
    variables = [each for each in model.weights if original_name(each) in names]
    values = [keras.ops.convert_to_numpy(each) for each in variables]
    try:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value / temperature)
        yield
    finally:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)


def _pool(
    values: tf.Tensor,
    rows: tf.Tensor,
    num_texts: tf.Tensor,
    output_mode: str,
    window_options: WindowOptions,
    temperature: float,
) -> tf.Tensor:
    """Pools the outputs for the windows of each text, as training does.

    `values` are the windows' probabilities, float32 [W, L], or in regression
    their numbers, float32 [W]. `rows` is the index of each window's text, int64
    [W]. Returns the probabilities or numbers of the texts, float32 [N, L] or
    [N].
    """
    if output_mode != "regression":
        clipped = tf.clip_by_value(values, windows.LOWEST, windows.HIGHEST)
        values = tf.math.log(clipped)
        if output_mode == "multilabel":
            values -= tf.math.log(1 - clipped)
    if output_mode == "classification" and temperature != 1:
        # Undo the division by the temperature inside the softmax, because
        # training pools undivided log probabilities. They may be divided before
        # pooling, because division and pooling can be exchanged.
        before = tf.nn.softmax(temperature * values)
        values = tf.math.log(tf.maximum(before, windows.LOWEST)) / temperature
    if window_options.window_pooling == "max":
        values = -tf.math.unsorted_segment_min(-values, rows, num_texts)
    else:
        values = tf.math.unsorted_segment_mean(values, rows, num_texts)
    if output_mode == "classification":
        return tf.nn.softmax(values)
    return tf.sigmoid(values) if output_mode == "multilabel" else values


def export_multiple_choice(
    export_dir: str | os.PathLike,
    model: keras.Model,
    tokenizer: FullTokenizer,
    export_options: ExportConfig | None = None,
) -> None:
    """Exports a multiple-choice model with only the signature `serve`.

    The inputs of `serve` are `input_ids`, `input_mask` and `segment_ids`, int32
    [B, C, F]. It returns `probabilities` of the choices, float32 [B, C].

    Args:
        export_dir: folder to write. It appears when it is complete.
        model: BertMultipleChoice to export.
        tokenizer: FullTokenizer of the model. Its files are exported too.
        export_options: format of the export, or None for a SavedModel.
    """
    options = signatures.ServingOptions(tokenizer, export=export_options)
    signatures.export_model(
        *(export_dir, model, signatures.softmax_of(model)),
        options=options,
        num_dimensions=3,
    )
