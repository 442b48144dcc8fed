"""Answers questions about passages of any length."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from data.squad import decoding, passage_windows
from data.squad.reading import WORD, SquadExample
from serving.engines import Input
from serving.serving_flags import TaskFlags
from serving.tasks.base import (
    Encoded,
    OutputArrays,
    Reply,
    Request,
    TaskModel,
    TextTask,
)

OptionsT = TypeVar(
    "OptionsT", passage_windows.WindowOptions, decoding.DecodingOptions
)
# The question, and its windows.
Context = tuple[SquadExample, list[passage_windows.SquadFeatures]]


def _read(kind: type[OptionsT], model: TaskModel) -> OptionsT:
    """Returns an instance of `kind` with the options of the exported model."""
    settings: Mapping[str, Any] = model.settings
    fields = dataclasses.fields(kind)
    return kind(**{field.name: settings[field.name] for field in fields})


def _encode(model: TaskModel, request: Request) -> Encoded[Context]:
    example = SquadExample(
        qas_id="",
        question_text=request["question"],
        doc_tokens=WORD.findall(request["context"]),
        context=request["context"],
    )
    options = _read(passage_windows.WindowOptions, model)
    features = [
        *passage_windows.create_features(
            [example], model.tokenizer, options, is_training=False
        )
    ]
    inputs = [
        Input(
            feature.input_ids[: len(feature.tokens)],
            feature.tokens.index("[SEP]") + 1,
        )
        for feature in features
    ]
    return Encoded(inputs, (example, features))


def _decode(
    model: TaskModel,
    context: Context,
    outputs: list[OutputArrays],
    options: TaskFlags,
) -> Reply:
    # "start" and "end" count characters, "start_byte" and "end_byte" bytes.
    example, features = context
    results = {
        feature.unique_id: decoding.RawResult(
            feature.unique_id, logits["start_logits"], logits["end_logits"]
        )
        for feature, logits in zip(features, outputs, strict=True)
    }
    answer = decoding.decode_question(
        example,
        features,
        results,
        _read(decoding.DecodingOptions, model),
        model.tokenizer.basic_tokenizer,
    )
    entries = decoding.with_probabilities(answer.nbest)

    def describe(index: int) -> Reply:
        _, start, end, *_ = answer.nbest[index]
        # A position of -1 means "no answer".
        start_byte, end_byte = (
            len(example.context[:char].encode()) if char >= 0 else -1
            for char in (start, end)
        )
        return {
            "answer": entries[index]["text"],
            "probability": entries[index]["probability"],
            "start": start,
            "end": end,
            "start_byte": start_byte,
            "end_byte": end_byte,
        }

    reply = describe(answer.chosen)
    reply["null_odds"] = answer.score_diff
    if options.n_best > 1:
        count = min(len(entries), options.n_best)
        reply["n_best"] = [*map(describe, range(count))]
    return reply


ANSWER = TextTask(
    "answer",
    _encode,
    _decode,
    {"question": True, "context": True},
    reads_all=True,
    settings=[
        field.name
        for kind in (passage_windows.WindowOptions, decoding.DecodingOptions)
        for field in dataclasses.fields(kind)
    ],
)
