"""The signatures `classify` and `classify_text` of a classifier of texts.

N = number of texts, L = labels, W = windows.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Protocol

import tensorflow as tf

from data.io.tfrecords import trim_padding
from data.text.packing_layer import Windows, cut_windows
from model_folders import kinds
from model_folders.model_entries import HeadSettings, OutputMode
from modeling.task_models import BertClassifier
from serving import head_outputs
from serving.exporting.export_options import ExportOptions
from serving.exporting.signatures import batches, export_head
from serving.exporting.signatures.batches import Tensors

_Predict = Callable[[Tensors], Tensors]


class _PredictTexts(Protocol):
    """Function from texts, string [N] each, to the outputs for each text."""

    def __call__(self, *texts: tf.Tensor) -> Tensors: ...


def create_head(
    model: BertClassifier, settings: HeadSettings, options: ExportOptions
) -> export_head.ExportHead:
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
        label_list = export_head.output_labels(model, settings)
    output_kind = head_outputs.output_kind_of(kinds.CLASSIFIER, settings)
    predict = export_head.share_graph(
        export_head.predict_labels(model, output_kind)
    )
    names = ["text_a"] if stride else ["text_a", "text_b"]
    predict_texts: _PredictTexts = (
        _WholeTexts(predict, options, stride=stride, mode=mode).predict_texts
        if stride
        else _Beginnings(predict, options).predict_texts
    )
    head = _Classifying(predict_texts, label_list, mode, len(names))
    recorded: HeadSettings = {
        "labels": label_list,
        "output_mode": mode,
        "doc_stride": stride,
        "num_texts": num_texts,
    }
    return export_head.ExportHead(
        predict=predict,
        endpoints=_create_endpoints(head, names, reads_pairs=num_texts == 2),
        settings=recorded,
        output_kind=output_kind,
    )


def _create_endpoints(
    head: "_Classifying", names: Sequence[str], *, reads_pairs: bool
) -> dict[str, export_head.Endpoint]:
    """Returns {signature: endpoint}. The first one is the default.

    `names` are those of the inputs of `classify`.
    """
    classify = export_head.Endpoint(
        head.classify, export_head.text_inputs(*names)
    )
    classify_text = export_head.Endpoint(
        head.classify_text, export_head.text_inputs("text")
    )
    if reads_pairs:
        return {"classify": classify, "classify_text": classify_text}
    return {"classify_text": classify_text, "classify": classify}


class _Beginnings:
    """Classifies texts or pairs, cut at the maximum length."""

    def __init__(self, predict: _Predict, options: ExportOptions) -> None:
        self._predict = predict
        self._packing = options.packing
        self._batch_size = options.predict_batch_size

    def predict_texts(self, *texts: tf.Tensor) -> Tensors:
        tokens = self._packing.tokenize(*texts)
        return batches.call_in_batches(
            functools.partial(self._predict_rows, tokens),
            tf.shape(texts[0])[0],
            self._batch_size,
        )

    def _predict_rows(
        self,
        tokens: Sequence[tf.RaggedTensor],
        start: tf.Tensor,
        end: tf.Tensor,
    ) -> Tensors:
        return self._predict(
            batches.pack_rows(self._packing, tokens, start, end)
        )


class _WholeTexts:
    """Classifies texts in windows, and averages the windows' outputs.

    The rules are those of data/classification/label_decoding.py.
    """

    def __init__(
        self,
        predict: _Predict,
        options: ExportOptions,
        stride: int,
        mode: OutputMode,
    ) -> None:
        self._predict = predict
        self._packing = options.packing
        self._batch_size = options.predict_batch_size
        self._stride = stride
        self._mode = mode

    def predict_texts(self, *texts: tf.Tensor) -> Tensors:
        # A pair is not cut into windows.
        (text,) = texts
        tokens, *_ = self._packing.tokenize(text)
        windows = cut_windows(
            tokens, self._packing.max_seq_length, self._stride, fewest=1
        )
        outputs = batches.call_in_batches(
            functools.partial(self._predict_rows, windows),
            tf.size(windows.rows),
            self._batch_size,
        )
        ((name, values),) = outputs.items()
        pooled = tf.math.unsorted_segment_mean(
            values, windows.rows, tf.shape(text)[0]
        )
        if name == "logits":
            return export_head.from_logits(pooled, self._mode)
        return {name: pooled}

    def _predict_rows(
        self, windows: Windows, start: tf.Tensor, end: tf.Tensor
    ) -> Tensors:
        packed = windows.slice(start, end).pack(
            self._packing.tokenizer, self._packing.max_seq_length
        )
        return self._predict(trim_padding(packed, 1))


class _Classifying:
    """Adds the labels to what `predict_texts` returns for `num_texts` texts.

    Attributes:
        classify: function of the signature `classify`.
    """

    def __init__(
        self,
        predict_texts: _PredictTexts,
        label_list: list[str] | None,
        mode: OutputMode,
        num_texts: int,
    ) -> None:
        self._predict_texts = predict_texts
        self._label_list = label_list
        self._mode = mode
        self._num_texts = num_texts
        # Both signatures call the same graph.
        self.classify = export_head.share_graph(self._classify)

    def classify_text(self, text: tf.Tensor) -> Tensors:
        empty = [tf.zeros_like(text)] * (self._num_texts - 1)
        return self.classify(text, *empty)

    def _classify(self, *texts: tf.Tensor) -> Tensors:
        outputs = self._predict_texts(*texts)
        if self._label_list is None:
            return outputs
        return outputs | _name_labels(
            outputs["probabilities"], self._label_list, self._mode
        )


def _name_labels(
    probabilities: tf.Tensor,
    label_list: list[str],
    mode: OutputMode,
) -> Tensors:
    """Returns the outputs `label` and `labels`."""
    labels = tf.tile([label_list], [tf.shape(probabilities)[0], 1])
    if mode == head_outputs.MULTILABEL:
        label = tf.where(probabilities > 0.5, labels, "")
    else:
        label = tf.gather(label_list, tf.argmax(probabilities, -1))
    return {"label": label, "labels": labels}
