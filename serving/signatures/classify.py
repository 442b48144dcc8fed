"""The signatures `classify` and `classify_text` of a classifier of texts.

N = number of texts, L = labels, W = windows.
"""

from collections.abc import Callable

import keras
import tensorflow as tf

from data.io.tfrecords import trim_padding
from data.text.packing_layer import cut_windows
from modeling import kinds
from modeling.folders.model_entries import HeadSettings
from serving import head_outputs
from serving.export_options import ExportOptions
from serving.signatures import base, batches
from serving.signatures.batches import Features

# Function from texts, string [N] each, to the outputs for each text.
_Read = Callable[..., Features]


def create(
    model: keras.Model, settings: HeadSettings, options: ExportOptions
) -> base.Head:
    """Returns the head of a classifier, with signatures that accept text.

    The inputs of `classify` are `text_a` and `text_b`, string [N]. A `text_b`
    of "" means no second text. The only input of `classify_text` is `text`.
    With a `doc_stride`, both signatures read a text in windows and average the
    windows' outputs, and `classify` accepts only `text_a`. Both return

        probabilities  float32 [N, L]
        labels         string [N, L], the label of each probability, in the
                       order of labels.txt
        label          string [N], the most probable label. For "multilabel",
                       string [N, L], "" for a label whose probability is at
                       most 0.5

    In regression, both return only `values`, float32 [N]. `serving_default` is
    `classify` for a model of pairs, else `classify_text`. With a `doc_stride`,
    `ids` returns the `logits` of each window instead of its probabilities.

    Args:
        model: a BertClassifier.
        settings: `labels`, names of the outputs. `output_mode`,
            "classification" (the default), "multilabel" or "regression".
            `doc_stride`, the number of WordPieces between the starts of two
            windows of a long text, or 0 (the default) to cut long texts.
            `num_texts`, 1 if the model was trained on single texts, 2 if on
            pairs, None if that is unknown.
        options: texts longer than `max_seq_length` are cut, unless `doc_stride`
            is set.
    """
    mode = settings.get("output_mode") or head_outputs.CLASSIFICATION
    stride = settings.get("doc_stride") or 0
    num_texts = settings.get("num_texts")
    label_list = None
    if mode != head_outputs.REGRESSION:
        label_list = base.labels_of(model, settings)
    form = head_outputs.form_of(kinds.CLASSIFIER, settings)
    predict = base.trace_once(base.predict_labels(model, form))
    if stride:
        names = ["text_a"]
        read = _read_windows(predict, options, stride, mode)
    else:
        names = ["text_a", "text_b"]
        read = _read_beginnings(predict, options)

    @base.trace_once
    def classify(*texts: tf.Tensor) -> Features:
        outputs = read(*texts)
        if label_list is None:
            return outputs
        return outputs | _name_labels(
            outputs["probabilities"], label_list, mode
        )

    def classify_text(text: tf.Tensor) -> Features:
        return classify(text, *[tf.zeros_like(text) for _ in names[1:]])

    endpoints = {
        "classify_text": base.Endpoint(classify_text, base.text_inputs("text")),
        "classify": base.Endpoint(classify, base.text_inputs(*names)),
    }
    if num_texts == 2:
        # The first endpoint is the default.
        endpoints = dict(reversed(endpoints.items()))
    recorded: HeadSettings = {
        "labels": label_list,
        "output_mode": mode,
        "doc_stride": stride,
        "num_texts": num_texts,
    }
    return base.Head(predict, endpoints, recorded, form)


def _read_beginnings(
    predict: Callable[[Features], Features], options: ExportOptions
) -> _Read:
    # Cuts texts, or pairs of texts, at the maximum length.
    packing = options.packing

    def read(*texts: tf.Tensor) -> Features:
        tokens = packing.tokenize(*texts)

        def predict_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            return predict(batches.pack_rows(packing, tokens, begin, end))

        return batches.call_in_batches(
            predict_some, tf.shape(texts[0])[0], options.predict_batch_size
        )

    return read


def _read_windows(
    predict: Callable[[Features], Features],
    options: ExportOptions,
    stride: int,
    mode: str,
) -> _Read:
    # Reads whole texts in windows, and averages the windows' outputs, by the
    # rules of data/classification/decoding.py.
    packing = options.packing
    length = packing.max_seq_length

    def read(text: tf.Tensor) -> Features:
        tokens, *_ = packing.tokenize(text)
        windows = cut_windows(tokens, length, stride, fewest=1)

        def predict_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            some = windows.slice(begin, end)
            packed = some.pack(packing.tokenizer, length)
            return predict(trim_padding(packed, 1))

        outputs = batches.call_in_batches(
            predict_some, tf.size(windows.rows), options.predict_batch_size
        )
        ((name, values),) = outputs.items()
        pooled = tf.math.unsorted_segment_mean(
            values, windows.rows, tf.shape(text)[0]
        )
        if name == "logits":
            return base.from_logits(pooled, mode)
        return {name: pooled}

    return read


def _name_labels(
    probabilities: tf.Tensor, label_list: list[str], mode: str
) -> Features:
    # Returns the outputs `label` and `labels`.
    labels = tf.tile([label_list], [tf.shape(probabilities)[0], 1])
    if mode == head_outputs.MULTILABEL:
        label = tf.where(probabilities > 0.5, labels, "")
    else:
        label = tf.gather(label_list, tf.argmax(probabilities, -1))
    return {"label": label, "labels": labels}
