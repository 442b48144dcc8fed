"""Answers questions about passages of any length."""

import dataclasses
from typing import NamedTuple

from data.squad import answer_decoding, passage_windows
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import (
    DecodingOptions,
    WindowOptions,
    read_options,
)
from serving.engines import Input, OutputArrays
from serving.prepared_model import PreparedModel
from serving.serving_flags import TaskFlags
from serving.tasks.text_task import (
    Encoded,
    Reply,
    Request,
    TextTask,
)


class _Question(NamedTuple):
    """What decoding needs to know of a request.

    Attributes:
        example: the question and its passage.
        windows: the windows of the passage.
    """

    example: SquadExample
    windows: list[passage_windows.SquadFeatures]


def _encode(model: PreparedModel, request: Request) -> Encoded[_Question]:
    """Cuts the passage of a question into windows."""
    example = SquadExample(
        qas_id="",
        question_text=request["question"],
        doc_tokens=WORD.findall(request["context"]),
        context=request["context"],
    )
    options = read_options(WindowOptions, model.settings)
    windows = [
        *passage_windows.create_features(
            [example], model.tokenizer, options, is_training=False
        )
    ]
    inputs = [
        Input(
            window.input_ids[: len(window.tokens)],
            window.tokens.index("[SEP]") + 1,
        )
        for window in windows
    ]
    return Encoded(inputs, _Question(example, windows))


def _decode(
    model: PreparedModel,
    question: _Question,
    outputs: list[OutputArrays],
    options: TaskFlags,
) -> Reply:
    """Returns the best answer in any of the windows.

    "start" and "end" count characters, "start_byte" and "end_byte" bytes.
    """
    example, windows = question
    results = {
        window.unique_id: answer_decoding.RawResult(
            window.unique_id, logits["start_logits"], logits["end_logits"]
        )
        for window, logits in zip(windows, outputs, strict=True)
    }
    answer = answer_decoding.decode_question(
        example,
        windows,
        results,
        read_options(DecodingOptions, model.settings),
        model.tokenizer.basic_tokenizer,
    )
    entries = answer_decoding.with_probabilities(answer.nbest)

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
    name="answer",
    encode=_encode,
    decode=_decode,
    fields={"question": True, "context": True},
    reads_all=True,
    settings=[
        field.name
        for options_class in (
            WindowOptions,
            DecodingOptions,
        )
        for field in dataclasses.fields(options_class)
    ],
)
