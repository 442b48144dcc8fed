"""Creates the signatures of a classifier: `classify` and `classify_text`.

A model that chooses among several texts is here too. Its only signature is
`ids`.

N = number of texts, L = labels, W = windows.
"""

import functools
from collections.abc import Sequence
from typing import Protocol

import tensorflow as tf

from data.padding import trim_batch
from data.probabilities import MULTILABEL_THRESHOLD
from data.text.token_windows_graph import Windows, cut_windows
from exporting import batching_graph, export_formats
from exporting.export_options import ExportOptions
from exporting.label_outputs import (
    choose_output_labels,
    compute_outputs,
    create_label_predictor,
)
from exporting.signatures import (
    ExportSignatures,
    PredictFeatures,
    Signature,
    Signatures,
    Tensors,
    share_graph,
    text_inputs,
)
from model_folders.head_settings import (
    ClassifierSettings,
    HeadSettings,
    output_mode_of,
)
from model_folders.kinds import ModelClass
from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)
from modeling.task_models import BertClassifier, BertMultipleChoice


class _PredictTexts(Protocol):
    """Predicts single texts, or pairs of texts."""

    def __call__(self, *texts: tf.Tensor) -> Tensors:
        """Returns the outputs of the network for texts or pairs.

        Args:
            texts: the texts, string [N], for pairs also the second texts.

        Returns:
            {"probabilities": float32 [N, L]}, or in regression,
            {"values": float32 [N]}.
        """


def create_classify_signatures(
    model: BertClassifier,
    head_settings: ClassifierSettings,
    options: ExportOptions,
) -> ExportSignatures:
    """Returns the signatures of a classifier.

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
        model: model to export.
        head_settings: `labels`, names of the outputs. `output_mode`,
            "classification" (the default), "multilabel" or "regression".
            `doc_stride`, the number of WordPieces between the starts of two
            windows of a long text, or 0 (the default) to cut long texts.
            `num_texts`, 1 if the model was trained on single texts, 2 if on
            pairs, None if that is unknown.
        options: texts longer than `max_seq_length` are cut, unless `doc_stride`
            is set.
    """
    output_mode = output_mode_of(head_settings)
    stride = head_settings.get("doc_stride") or 0
    num_texts = head_settings.get("num_texts")
    labels = None
    if output_mode != REGRESSION:
        labels = choose_output_labels(model, head_settings)
    exported_output = export_formats.exported_output_of(
        ModelClass.CLASSIFIER, head_settings
    )
    predict = share_graph(create_label_predictor(model, exported_output))
    # A model that reads windows reads no pairs.
    input_names = ["text_a"] if stride else ["text_a", "text_b"]
    classifier = _TextClassifier(
        _choose_predictor(
            predict, options, stride=stride, output_mode=output_mode
        ),
        labels,
        output_mode,
        num_texts=len(input_names),
    )
    exported_settings: ClassifierSettings = {
        "labels": labels,
        "output_mode": output_mode,
        "doc_stride": stride,
        "num_texts": num_texts,
    }
    return ExportSignatures(
        predict=predict,
        text_signatures=_list_text_signatures(
            classifier, input_names, reads_pairs=num_texts == 2
        ),
        head_settings=exported_settings,
        exported_output=exported_output,
    )


def _choose_predictor(
    predict: PredictFeatures,
    options: ExportOptions,
    *,
    stride: int,
    output_mode: OutputMode,
) -> _PredictTexts:
    """Returns a predictor of windows, or of cut texts without a `stride`."""
    if stride:
        return _WindowPredictor(
            predict, options, stride=stride, output_mode=output_mode
        )
    return _CutTextPredictor(predict, options)


def _list_text_signatures(
    classifier: "_TextClassifier",
    input_names: Sequence[str],
    *,
    reads_pairs: bool,
) -> Signatures:
    """Returns both signatures that accept text, the default signature first.

    `input_names` are the names of the inputs of `classify`.
    """
    classify = Signature(classifier.classify, text_inputs(*input_names))
    classify_text = Signature(classifier.classify_text, text_inputs("text"))
    if reads_pairs:
        return {"classify": classify, "classify_text": classify_text}
    return {"classify_text": classify_text, "classify": classify}


class _CutTextPredictor:
    """Predicts texts or pairs from their beginnings, as a `_PredictTexts`.

    Each text or pair is cut at the maximum length, and becomes one input of the
    network.
    """

    def __init__(
        self, predict: PredictFeatures, options: ExportOptions
    ) -> None:
        self._predict = predict
        self._packing = options.packing
        self._batch_size = options.predict_batch_size

    def __call__(self, *texts: tf.Tensor) -> Tensors:
        tokens = self._packing.tokenize(*texts)
        return batching_graph.call_in_batches(
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
        """Returns the outputs for texts or pairs `start` to `end` - 1."""
        return self._predict(
            batching_graph.pack_rows(self._packing, tokens, start, end)
        )


class _WindowPredictor:
    """Predicts single texts as a whole, as a `_PredictTexts`.

    The N texts become W windows, each an input of the network. The output of a
    text is the mean over its windows, by the rules of
    data/classification/label_codec.py.
    """

    def __init__(
        self,
        predict: PredictFeatures,
        options: ExportOptions,
        *,
        stride: int,
        output_mode: OutputMode,
    ) -> None:
        self._predict = predict
        self._packing = options.packing
        self._batch_size = options.predict_batch_size
        self._stride = stride
        self._output_mode = output_mode

    def __call__(self, *texts: tf.Tensor) -> Tensors:
        (text,) = texts
        (tokens,) = self._packing.tokenize(text)
        windows = cut_windows(
            tokens, self._packing.max_seq_length, self._stride, min_windows=1
        )
        outputs = batching_graph.call_in_batches(
            functools.partial(self._predict_rows, windows),
            tf.size(windows.text_indices),
            self._batch_size,
        )
        ((name, values),) = outputs.items()
        pooled = tf.math.unsorted_segment_mean(
            values, windows.text_indices, tf.shape(text)[0]
        )
        if name == "logits":
            return compute_outputs(pooled, self._output_mode)
        return {name: pooled}

    def _predict_rows(
        self, windows: Windows, start: tf.Tensor, end: tf.Tensor
    ) -> Tensors:
        """Returns the outputs for windows `start` to `end` - 1."""
        packed = windows.slice(start, end).pack(
            self._packing.tokenizer, self._packing.max_seq_length
        )
        return self._predict(trim_batch(packed, 1))


class _TextClassifier:
    """The functions of both signatures: adds labels to predicted numbers.

    Args:
        predict_texts: computes the probabilities or values.
        labels: names of the L probabilities, None in regression.
        output_mode: chooses which labels a text has.
        num_texts: 2 if `classify` reads pairs, else 1.

    Attributes:
        classify: function of the signature `classify`.
    """

    def __init__(
        self,
        predict_texts: _PredictTexts,
        labels: list[str] | None,
        output_mode: OutputMode,
        *,
        num_texts: int,
    ) -> None:
        self._predict_texts = predict_texts
        self._labels = labels
        self._output_mode = output_mode
        self._num_texts = num_texts
        # Both signatures call the same graph.
        self.classify = share_graph(self._classify)

    def classify_text(self, text: tf.Tensor) -> Tensors:
        """Returns the outputs of `classify` for single texts, string [N].

        A model of pairs reads an empty second text.
        """
        empty = [tf.zeros_like(text)] * (self._num_texts - 1)
        return self.classify(text, *empty)

    def _classify(self, *texts: tf.Tensor) -> Tensors:
        outputs = self._predict_texts(*texts)
        if self._labels is None:
            return outputs
        return outputs | _choose_labels(
            outputs["probabilities"], self._labels, self._output_mode
        )


def _choose_labels(
    probabilities: tf.Tensor,
    labels: list[str],
    output_mode: OutputMode,
) -> Tensors:
    """Returns the outputs `label`, [N] or [N, L], and `labels`, [N, L]."""
    label_rows = tf.tile([labels], [tf.shape(probabilities)[0], 1])
    if output_mode == MULTILABEL:
        label = tf.where(probabilities > MULTILABEL_THRESHOLD, label_rows, "")
    else:
        label = tf.gather(labels, tf.argmax(probabilities, -1))
    return {"label": label, "labels": label_rows}


def create_choice_signatures(
    model: BertMultipleChoice,
    head_settings: HeadSettings,
    options: ExportOptions,
) -> ExportSignatures:
    """Returns only `ids`, whose `probabilities` are those of the choices.

    Args:
        model: model to export.
        head_settings: settings of the head. A multiple-choice model needs none.
        options: none of them applies to `ids`.
    """
    return ExportSignatures(create_label_predictor(model, CLASSIFICATION))
