"""The text tasks of a classifier: labels of texts, ranks of passages."""

import dataclasses
import itertools
from typing import NotRequired, TypedDict

import numpy as np

from data.arrays import FloatArray
from data.classification.label_codec import pool_logits
from data.probabilities import MULTILABEL_THRESHOLD, to_probabilities
from data.text.token_windows import cut_windows
from model_folders.head_settings import ClassifierSettings, output_mode_of
from model_folders.output_modes import CLASSIFICATION, REGRESSION, OutputMode
from serving.engines import OutputArrays
from serving.text_tasks.loaded_export import AnyLoadedExport, LoadedExport
from serving.text_tasks.request_fields import RequestField
from serving.text_tasks.text_task import EncodedRequest, ReplyOptions, TextTask
from serving.text_tasks.tokenize import (
    CutReply,
    PairRequest,
    check_pair,
    create_input,
    encode_pair,
    pair_of,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierHead:
    """The settings with which the text task `classify` reads a classifier.

    Attributes:
        labels: names of the network's outputs, [] if they have no names, as in
            regression.
        output_mode: what the labels are.
        doc_stride: WordPieces between the starts of the windows of a text, 0 if
            the model reads a text in one input.
    """

    labels: list[str]
    output_mode: OutputMode = CLASSIFICATION
    doc_stride: int = 0


def parse_classifier_head(head_settings: ClassifierSettings) -> ClassifierHead:
    """Returns the head of a classifier, by its settings."""
    return ClassifierHead(
        labels=[*(head_settings.get("labels") or ())],
        output_mode=output_mode_of(head_settings),
        doc_stride=head_settings.get("doc_stride", 0),
    )


class ClassifyReply(CutReply):
    """The reply of a classifier. A regression model returns only `value`.

    Attributes:
        label: the most probable label, None if it is less probable than
            `min_probability`. In multi-label classification, a list of labels.
        probabilities: {label: its probability}.
        value: the value that a model of regression predicts.
    """

    label: NotRequired[str | list[str] | None]
    probabilities: NotRequired[dict[str, float]]
    value: NotRequired[float]


class RerankRequest(TypedDict):
    """A query, and the passages to rank."""

    query: str
    passages: list[str]


class RankedPassage(TypedDict):
    """A passage in a ranking.

    Attributes:
        index: index of the passage in the request.
        score: how well the passage matches the query.
    """

    index: int
    score: float


class RerankReply(CutReply):
    """The reply to a query.

    Attributes:
        ranking: all passages, the best first.
    """

    ranking: list[RankedPassage]


def _encode_texts(
    loaded_export: LoadedExport[ClassifierHead], request: PairRequest
) -> EncodedRequest[None]:
    """Turns a text or a pair into one input, or a text into its windows.

    A model reads windows if it has a `doc_stride`: the WordPieces between the
    starts of two windows. The first window begins at the beginning of the text.
    """
    stride = loaded_export.head.doc_stride
    if not stride:
        return EncodedRequest(encode_pair(loaded_export, request).inputs, None)
    tokens = loaded_export.tokenizer.tokenize(pair_of(request)[0])
    windows = cut_windows(tokens, loaded_export.max_seq_length, stride)
    inputs = [create_input(loaded_export, window) for window in windows]
    return EncodedRequest(inputs, None)


def _decode_labels(
    loaded_export: LoadedExport[ClassifierHead],
    decoding_context: None,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> ClassifyReply:
    """Returns the label and the probabilities, or the value in regression.

    `outputs` contain, for the only input, `probabilities` [L] of the L labels,
    or for each window its `logits` [L]. In regression, they contain `values`,
    a scalar for each input.
    """
    output_mode = loaded_export.head.output_mode
    labels = loaded_export.head.labels
    predictions = _compute_predictions(outputs, output_mode)
    if output_mode == REGRESSION:
        return {"value": float(predictions[0])}
    is_sure = predictions >= reply_options.min_probability
    label: str | list[str] | None
    if output_mode == CLASSIFICATION:
        best = predictions.argmax()
        label = labels[best] if is_sure[best] else None
    else:
        chosen = is_sure & (predictions > MULTILABEL_THRESHOLD)
        label = [*itertools.compress(labels, chosen)]
    probabilities = dict(zip(labels, predictions.tolist(), strict=True))
    return {"label": label, "probabilities": probabilities}


def _compute_predictions(
    outputs: list[OutputArrays], output_mode: OutputMode
) -> FloatArray:
    """Returns the probability of each label, or [value] in regression."""
    ((name, values),) = outputs[0].items()
    if name == "probabilities":
        return values
    # Models that read a text in windows output logits, which are averaged. A
    # regression model outputs its value.
    windows = np.stack([np.atleast_1d(arrays[name]) for arrays in outputs])
    pooled = to_probabilities(pool_logits(windows, [0])[0], output_mode)
    return pooled.astype(np.float32)


CLASSIFY = TextTask(
    name="classify",
    encode=_encode_texts,
    decode=_decode_labels,
    fields=[
        RequestField("text_a", aliases=("text",)),
        RequestField("text_b", is_required=False),
    ],
    check_fields=check_pair,
    parse_head=parse_classifier_head,
    required_settings=("output_mode", "labels"),
)


def _encode_passages(
    loaded_export: AnyLoadedExport, request: RerankRequest
) -> EncodedRequest[None]:
    max_seq_length = loaded_export.max_seq_length
    tokenize = loaded_export.tokenizer.tokenize_beginning
    query = tokenize(request["query"], max_seq_length)
    inputs = [
        create_input(loaded_export, query, tokenize(passage, max_seq_length))
        for passage in request["passages"]
    ]
    return EncodedRequest(inputs, None)


def _decode_ranking(
    loaded_export: AnyLoadedExport,
    decoding_context: None,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> RerankReply:
    """Returns the passages by their scores, the best first.

    The score is the output of a model with one output, else the probability of
    the second of two labels.
    """
    values = [
        arrays["values"] if "values" in arrays else arrays["probabilities"][1]
        for arrays in outputs
    ]
    scores = np.array(values, np.float32).reshape(len(values))
    order = np.argsort(-scores, kind="stable")
    pairs = zip(order.tolist(), scores[order].tolist(), strict=True)
    return {
        "ranking": [{"index": index, "score": score} for index, score in pairs]
    }


RERANK = TextTask(
    name="rerank",
    encode=_encode_passages,
    decode=_decode_ranking,
    fields=[RequestField("query"), RequestField("passages", is_list=True)],
)
