"""Exports classifiers of texts and of words, and multiple-choice models.

A classifier gets signatures for WordPiece ids, and signatures for text. A
multiple-choice model gets only a signature for ids.

N = number of texts, L = labels, B = batch size, C = choices, F = length of an
input in WordPieces, with padding, W = windows, M = words of the longest text.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from data.io.tfrecords import trim_padding
from data.ner.layers import cut_texts, decode_legal, split_words
from data.text.packing_layer import cut_windows
from serving.formats.base import ExportOptions, trace_once
from serving.signatures import base as signatures
from serving.signatures import batches
from serving.signatures.batches import Features


def export_classifier(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    label_list: Sequence[str] | None,
    options: ExportOptions,
    output_mode: str = "classification",
    doc_stride: int = 0,
    num_texts: int | None = None,
) -> None:
    """Exports a classifier: `ids` accepts ids, `classify*` accepts text.

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

    A SavedModel also contains the signature of `signatures.tokenize_texts`.

    Args:
        export_dir: folder to write. It gets this name when it is complete.
        model: BertClassifier to export.
        label_list: labels in the order of the model's outputs, or None in
            regression.
        options: ExportOptions. Texts longer than `options.max_seq_length` are
            cut, unless `doc_stride` is set.
        output_mode: "classification", "multilabel" or "regression".
        doc_stride: number of WordPieces between the starts of two windows of a
            long text, or 0 to cut long texts.
        num_texts: 1 if the model was trained on single texts, 2 if on pairs,
            None if that is unknown.
    """
    # Pool logits, because the probabilities of confident windows are equal.
    pools = bool(doc_stride) and output_mode != "regression"
    head_outputs = "logits" if pools else output_mode
    predict = trace_once(_predict_of(model, head_outputs))
    packing = options.packing
    names = ["text_a"] if doc_stride else ["text_a", "text_b"]

    @trace_once
    def classify(*texts: tf.Tensor) -> Features:
        tokens = packing.tokenize(*texts)
        num_texts = num_rows = tf.shape(texts[0])[0]
        if doc_stride:
            length = packing.max_seq_length
            found = cut_windows(tokens[0], length, doc_stride, fewest=1)
            num_rows = tf.size(found.rows)

        def predict_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            if not doc_stride:
                return predict(batches.pack_rows(packing, tokens, begin, end))
            some = found.slice(begin, end)
            return predict(
                trim_padding(some.pack(packing.tokenizer, length), 1)
            )

        outputs = batches.call_in_batches(
            predict_some, num_rows, options.predict_batch_size
        )
        if doc_stride:
            ((name, values),) = outputs.items()
            # The rules of data/classification/decoding.py.
            pooled = tf.math.unsorted_segment_mean(
                values, found.rows, num_texts
            )
            outputs = {name: pooled}
            if pools:
                outputs = _read_logits(pooled, output_mode)
        if label_list is None:
            return outputs
        probabilities = outputs["probabilities"]
        labels = tf.tile([label_list], [num_texts, 1])
        if output_mode == "multilabel":
            label = tf.where(probabilities > 0.5, labels, "")
        else:
            label = tf.gather(label_list, tf.argmax(probabilities, -1))
        return {**outputs, "label": label, "labels": labels}

    def classify_text(text: tf.Tensor) -> Features:
        return classify(text, *[tf.zeros_like(text) for _ in names[1:]])

    endpoints: signatures.Endpoints = {
        "classify_text": (classify_text, signatures.text_signature("text")),
        "classify": (classify, signatures.text_signature(*names)),
    }
    if num_texts == 2:
        # The first endpoint is the default.
        endpoints = dict(reversed(endpoints.items()))
    labels = label_list and [*label_list]
    task: dict[str, Any] = {
        "labels": labels,
        "output_mode": output_mode,
        "doc_stride": doc_stride,
        "num_texts": num_texts,
    }
    signatures.export_model(
        *(export_dir, model, predict, options, endpoints, task, head_outputs)
    )


def _predict_of(
    model: keras.Model, head_outputs: str = "classification"
) -> Callable[[Features], Features]:
    def predict(features: Features) -> Features:
        logits = tf.cast(model(features, training=False), tf.float32)
        return _read_logits(logits, head_outputs)

    return predict


def _read_logits(logits: tf.Tensor, head_outputs: str) -> Features:
    # Returns {"probabilities"}, or as `head_outputs` names, other outputs.
    if head_outputs == "logits":
        return {"logits": logits}
    if head_outputs == "regression":
        return {"values": logits[:, 0]}
    if head_outputs == "multilabel":
        return {"probabilities": tf.sigmoid(logits)}
    return {"probabilities": tf.nn.softmax(logits)}


def export_token_classifier(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    label_list: Sequence[str],
    options: ExportOptions,
    only_legal: bool = False,
) -> None:
    """Exports a token classifier: `ids` accepts ids, `tag*` accepts text.

    The input of `tag_words` is `text`, string [N], of any length, with white
    space between the words, as in CoNLL's files. It returns

        words          string [N, M], "" after the last word of a text
        tags           string [N, M], "" after the last word of a text
        probabilities  float32 [N, M], the probability of each tag
        num_words      int32 [N], the number of words

    `tag` returns the same outputs for text that is not split into words yet. It
    first splits off, as separate words: punctuation at the start or end of a
    word, dashes and ellipses between words ("York\u2014often"), and each
    ideograph. Other punctuation inside words stays, as in CoNLL's files:
    "U.S.", "O'Brien", "Franco-German".

    A SavedModel also contains the signature of `signatures.tokenize_texts`.

    Args:
        export_dir: folder to write. It gets this name when it is complete.
        model: BertTokenClassifier to export.
        label_list: tags in the order of the model's outputs.
        options: ExportOptions. Texts longer than `options.max_seq_length`
            are read in several windows.
        only_legal: True to return the best legal sequence of tags (see
            data/ner/legal_tags.py), False to return the best tag of each word.
    """
    tokenizer = options.packing.tokenizer
    predict = trace_once(_predict_of(model))
    signature = signatures.text_signature("text")

    @trace_once
    def tag_words(text: tf.Tensor) -> Features:
        length = options.max_seq_length
        words, rows, places = cut_texts(text, tokenizer, length)

        def tag_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            packed = rows.slice(begin, end).pack(tokenizer, length)
            outputs = predict(trim_padding(packed, 1))
            # `places` contains a row for each word: the window that tags the
            # word, and the word's position in the window. The rows are sorted
            # by window, so the words of windows `begin` to `end` - 1 are the
            # adjacent rows `first` to `last` - 1.
            windows = tf.cast(tf.stack([begin, end]), tf.int64)
            first, last = tf.unstack(tf.searchsorted(places[:, 0], windows))
            shift = tf.stack([windows[0], 0])
            selected = places[first:last] - shift
            found = tf.gather_nd(outputs["probabilities"], selected)
            return {"probabilities": found}

        outputs = batches.call_in_batches(
            tag_some, tf.size(rows.rows), options.predict_batch_size
        )
        found = outputs["probabilities"]
        ids = tf.argmax(found, -1)
        if only_legal:
            check = batches.check_padding(words.row_lengths())
            with tf.control_dependencies([check]):
                ragged = words.with_flat_values(tf.identity(found))
            ids = decode_legal(ragged, label_list)
        flat = {
            "tags": tf.gather(label_list, ids),
            "probabilities": tf.gather(found, ids, batch_dims=1),
        }
        ragged = {k: words.with_flat_values(v) for k, v in flat.items()}
        return {
            **batches.to_padded({"words": words, **ragged}),
            "num_words": tf.cast(words.row_lengths(), tf.int32),
        }

    def tag(text: tf.Tensor) -> Features:
        return tag_words(split_words(text))

    endpoints: signatures.Endpoints = {
        "tag": (tag, signature),
        "tag_words": (tag_words, signature),
    }
    task = {"labels": [*label_list], "legal_tags": only_legal}
    signatures.export_model(
        export_dir, model, predict, options, endpoints, task
    )


def export_multiple_choice(
    export_dir: str | os.PathLike, model: keras.Model, options: ExportOptions
) -> None:
    """Exports a multiple-choice model with only the signature `ids`.

    The inputs of `ids` are `input_ids`, `input_mask` and `segment_ids`, int32
    [B, C, F]. It returns `probabilities` of the choices, float32 [B, C].

    Args:
        export_dir: folder to write. It gets this name when it is complete.
        model: BertMultipleChoice to export.
        options: ExportOptions. The tokenizer's files are exported too.
    """
    signatures.export_model(export_dir, model, _predict_of(model), options)
