"""Answers questions about passages of any length."""

import dataclasses
from typing import NamedTuple, NotRequired, TypedDict

from data.squad import answer_decoding, token_spans
from data.squad.passage_windows import SquadFeatures, create_squad_features
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import (
    DecodingOptions,
    WindowOptions,
    parse_options,
)
from model_folders.head_settings import SpanLabelerSettings
from serving.engines import NetworkInput, OutputArrays
from serving.text_tasks.loaded_export import LoadedExport
from serving.text_tasks.request_fields import RequestField
from serving.text_tasks.text_task import EncodedRequest, ReplyOptions, TextTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpanLabelerHead:
    """The settings with which the text task `answer` reads a span labeler.

    Attributes:
        windows: how a question and its passage are cut into windows.
        decoding: how answers are chosen.
    """

    windows: WindowOptions
    decoding: DecodingOptions


def parse_span_labeler_head(
    head_settings: SpanLabelerSettings,
) -> SpanLabelerHead:
    """Returns the head of a span labeler, by its settings.

    Raises:
        ValueError: the windows are too short for a question.
    """
    return SpanLabelerHead(
        windows=parse_options(WindowOptions, head_settings),
        decoding=parse_options(DecodingOptions, head_settings),
    )


class AnswerRequest(TypedDict):
    """A question about a passage, the `context`."""

    question: str
    context: str


class AnswerReply(TypedDict):
    """An answer to a question. Only the best answer has the last two fields.

    Attributes:
        answer: text of the answer, "" for no answer.
        probability: probability of the answer among the best answers.
        start: index of the answer's first character in the passage, -1 for no
            answer.
        end: index after the answer's last character, -1 for no answer.
        start_byte: `start` in bytes of UTF-8.
        end_byte: `end` in bytes of UTF-8.
        null_odds: score of "no answer" minus the score of the best answer.
        n_best: the most probable answers, if more than one was asked for.
    """

    answer: str
    probability: float
    start: int
    end: int
    start_byte: int
    end_byte: int
    null_odds: NotRequired[float]
    n_best: NotRequired[list["AnswerReply"]]


class _Question(NamedTuple):
    """The decoding context of a request: the question, and its windows.

    Attributes:
        example: the question and its passage.
        windows: the inputs of the network, which together contain the passage.
    """

    example: SquadExample
    windows: list[SquadFeatures]


def _encode_question(
    loaded_export: LoadedExport[SpanLabelerHead], request: AnswerRequest
) -> EncodedRequest[_Question]:
    """Cuts the passage of a question into windows."""
    example = SquadExample(
        qas_id="",
        question_text=request["question"],
        doc_tokens=WORD.findall(request["context"]),
        context=request["context"],
    )
    windows = [
        *create_squad_features(
            [example],
            loaded_export.tokenizer,
            loaded_export.head.windows,
            is_training=False,
        )
    ]
    inputs = [
        NetworkInput(
            window.input_ids[: len(window.tokens)],
            window.tokens.index("[SEP]") + 1,
        )
        for window in windows
    ]
    return EncodedRequest(inputs, _Question(example, windows))


def _decode_answer(
    loaded_export: LoadedExport[SpanLabelerHead],
    question: _Question,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> AnswerReply:
    """Returns the best answer in any of the windows."""
    example, windows = question
    results = {
        window.unique_id: token_spans.RawResult(
            window.unique_id, logits["start_logits"], logits["end_logits"]
        )
        for window, logits in zip(windows, outputs, strict=True)
    }
    answer = answer_decoding.decode_question(
        example,
        windows,
        results,
        loaded_export.head.decoding,
        loaded_export.tokenizer.basic_tokenizer,
    )
    entries = answer_decoding.with_probabilities(answer.nbest)
    best = [*zip(answer.nbest, entries, strict=True)]
    reply = _create_answer_reply(example.context, *best[answer.chosen_index])
    reply["null_odds"] = float(answer.null_odds)
    if reply_options.n_best > 1:
        reply["n_best"] = [
            _create_answer_reply(example.context, candidate, entry)
            for candidate, entry in best[: reply_options.n_best]
        ]
    return reply


def _create_answer_reply(
    passage: str,
    candidate: answer_decoding.Candidate,
    entry: answer_decoding.NbestEntry,
) -> AnswerReply:
    """Returns one of the best answers, and where it is in the passage."""
    return {
        "answer": entry["text"],
        "probability": entry["probability"],
        "start": candidate.start,
        "end": candidate.end,
        "start_byte": _count_bytes(passage, candidate.start),
        "end_byte": _count_bytes(passage, candidate.end),
    }


def _count_bytes(passage: str, position: int) -> int:
    """Returns a position in bytes, -1 for the position -1 of no answer."""
    return len(passage[:position].encode()) if position >= 0 else -1


ANSWER = TextTask(
    name="answer",
    encode=_encode_question,
    decode=_decode_answer,
    fields=[RequestField("question"), RequestField("context")],
    reads_all=True,
    parse_head=parse_span_labeler_head,
    required_settings=[
        field.name
        for options_class in (
            WindowOptions,
            DecodingOptions,
        )
        for field in dataclasses.fields(options_class)
    ],
)
