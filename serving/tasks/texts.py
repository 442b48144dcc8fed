"""Tasks that return the labels, vectors or WordPieces of a text."""

import itertools
from typing import Any

import numpy as np

from data.classification.decoding import pool, to_probabilities
from data.text.token_windows import cut_spans
from serving.engines import Input
from serving.tasks.base import (
    Model,
    Outputs,
    Reply,
    Request,
    TaskOptions,
    TextTask,
    encode_texts,
    pack,
    to_number,
    to_numbers,
)


def _encode(model: Model, request: Request) -> tuple[list[Input], Any]:
    stride = model.settings.get("doc_stride", 0)
    if not stride:
        return encode_texts(model, request)
    tokens = model.tokenizer.tokenize(request["text_a"])
    # Also create a window for a text without WordPieces, because every request
    # must get a prediction.
    spans = cut_spans(max(len(tokens), 1), model.max_seq_length - 2, stride)
    return [pack(model, tokens[i : i + length]) for i, length in spans], None


def _pool(model: Model, outputs: list[Outputs]) -> np.ndarray:
    # Models that read a text in windows output logits, which are averaged.
    ((name, first),) = outputs[0].items()
    if name == "probabilities":
        return first
    mode = model.settings["output_mode"]
    every = np.stack([np.atleast_1d(each[name]) for each in outputs])
    pooled = pool(every, [0])[0]
    return to_probabilities(pooled, mode).astype(np.float32)


def _decode(
    model: Model, context: Any, outputs: list[Outputs], options: TaskOptions
) -> Reply:
    # In multi-label classification, "label" is a list. Otherwise it is None if
    # no probability reaches the option `min_probability`.
    probabilities, mode = _pool(model, outputs), model.settings["output_mode"]
    if mode == "regression":
        return {"value": to_number(probabilities[0])}
    labels, is_multilabel = model.settings["labels"], mode == "multilabel"
    if is_multilabel:
        is_chosen = probabilities > 0.5
    else:
        is_chosen = np.arange(len(labels)) == probabilities.argmax()
    is_chosen = is_chosen & (probabilities >= options.min_probability)
    chosen = [*itertools.compress(labels, is_chosen)]
    numbers = to_numbers(probabilities)
    return {
        "label": chosen if is_multilabel else (chosen or [None])[0],
        "probabilities": dict(zip(labels, numbers, strict=True)),
    }


CLASSIFY = TextTask(
    "classify",
    _encode,
    _decode,
    {"text_a": True, "text_b": False},
    other_names={"text_a": ["text"]},
)


def _decode_vectors(
    model: Model, packed: Input, outputs: list[Outputs], options: TaskOptions
) -> Reply:
    sequence = outputs[0]["sequence_output"][: len(packed.ids)]
    # The mean includes [CLS] and [SEP], as in sentence-transformers.
    mean = sequence.mean(0)
    length = max(float(np.linalg.norm(mean)), 1e-12)
    reply: Reply = {
        "pooled": to_numbers(outputs[0]["pooled_output"]),
        "mean": to_numbers(mean),
        "mean_normalized": to_numbers(mean / length),
    }
    if options.tokens:
        reply["tokens"] = model.tokenizer.convert_ids_to_tokens(packed.ids)
        reply["sequence"] = [*map(to_numbers, sequence)]
    return reply


EMBED = TextTask("embed", encode_texts, _decode_vectors, {"text": True})


def _encode_no_input(model: Model, request: Request) -> tuple[list, Reply]:
    texts = request["text_a"], request.get("text_b", "")
    tokens = [*map(model.tokenizer.tokenize, texts)]
    read = model.tokenizer.convert_ids_to_tokens(pack(model, *tokens).ids)
    return [], {"tokens": read, "num_wordpieces": sum(map(len, tokens))}


TOKENIZE = TextTask(
    "tokenize",
    _encode_no_input,
    lambda model, reply, outputs, options: reply,
    CLASSIFY.fields,
    other_names=CLASSIFY.other_names,
)
