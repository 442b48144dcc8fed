"""Turns a text or a pair of texts into WordPieces, as one input of the network.

Text tasks over a text or a pair share the functions of this module. The text
task `tokenize` returns the WordPieces.
"""

import dataclasses
from collections.abc import Sequence
from typing import NotRequired, TypedDict

from data.text.token_windows import join_tokens
from serving.engines import NetworkInput, OutputArrays
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.request_fields import (
    Request,
    RequestError,
    RequestField,
)
from serving.text_tasks.text_task import (
    AnyTextTask,
    EncodedRequest,
    ReplyOptions,
    TextTask,
)


class PairRequest(TypedDict):
    """A text or a pair of texts.

    Attributes:
        text_a: the only or the first text.
        text: the same text under its other name. A request contains one name.
        text_b: second text of a pair.
    """

    text_a: NotRequired[str]
    text: NotRequired[str]
    text_b: NotRequired[str]


class CutReply(TypedDict):
    """A reply to texts of which the model may have read only the beginning.

    Attributes:
        num_wordpieces_cut: number of WordPieces that the model did not read, if
            there are any.
    """

    num_wordpieces_cut: NotRequired[int]


def encode_pair(
    loaded_export: AnyLoadedExport, request: PairRequest
) -> EncodedRequest[NetworkInput]:
    """Turns one or two texts into one input, which decoding reads too."""
    max_seq_length = loaded_export.max_seq_length
    text_a, text_b = pair_of(request)
    network_input = create_input(
        loaded_export,
        loaded_export.tokenizer.tokenize_beginning(text_a, max_seq_length),
        loaded_export.tokenizer.tokenize_beginning(text_b, max_seq_length),
    )
    return EncodedRequest([network_input], network_input)


def create_input(
    loaded_export: AnyLoadedExport,
    tokens_a: list[str],
    tokens_b: Sequence[str] = (),
) -> NetworkInput:
    """Creates the input that joins the WordPieces of one or two texts."""
    max_seq_length = loaded_export.max_seq_length
    tokens, first_length, num_cut = join_tokens(
        tokens_a, tokens_b, max_seq_length
    )
    ids = loaded_export.tokenizer.convert_tokens_to_ids(tokens)
    return NetworkInput(ids, first_length, num_cut)


def pair_of(request: PairRequest) -> tuple[str, str]:
    """Returns the text of a request and its second text, which may be ""."""
    text_a = request["text"] if "text" in request else request["text_a"]
    return text_a, request.get("text_b", "")


def check_pair(request: Request) -> None:
    """Checks that a request names its first text once.

    Raises:
        RequestError: the request names the text twice.
    """
    if "text" in request and "text_a" in request:
        raise RequestError(
            "'text' and 'text_a' are the same field; use only one"
        )


def without_pairs(text_task: AnyTextTask) -> AnyTextTask:
    """Returns a text task whose requests contain no second text.

    This is a copy if the second text is optional. Other text tasks need both
    texts, or have no second one.
    """
    if RequestField("text_b", is_required=False) not in text_task.fields:
        return text_task
    return dataclasses.replace(
        text_task,
        fields=[RequestField("text", aliases=("text_a",))],
        check_fields=_check_single_text,
    )


def _check_single_text(request: Request) -> None:
    """Checks that a request names its text once, and has no second text."""
    check_pair(request)
    if request.get("text_b"):
        raise RequestError(
            "this model was trained on single texts, so it accepts no "
            "'text_b'. Send each text by itself"
        )


class TokenizeReply(TypedDict):
    """The WordPieces of one or two texts.

    Attributes:
        tokens: the WordPieces that the model reads.
        num_wordpieces: number of WordPieces of the texts before they were cut,
            without [CLS] and [SEP].
    """

    tokens: list[str]
    num_wordpieces: int


def _encode_tokens(
    loaded_export: AnyLoadedExport, request: PairRequest
) -> EncodedRequest[TokenizeReply]:
    """Creates the reply, and no input, so that the network does not run."""
    tokenizer = loaded_export.tokenizer
    tokens_a, tokens_b = map(tokenizer.tokenize, pair_of(request))
    network_input = create_input(loaded_export, tokens_a, tokens_b)
    reply: TokenizeReply = {
        "tokens": tokenizer.convert_ids_to_tokens(network_input.ids),
        "num_wordpieces": len(tokens_a) + len(tokens_b),
    }
    return EncodedRequest([], reply)


def _decode_tokens(
    loaded_export: AnyLoadedExport,
    decoding_context: TokenizeReply,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> TokenizeReply:
    return decoding_context


TOKENIZE = TextTask(
    name="tokenize",
    encode=_encode_tokens,
    decode=_decode_tokens,
    fields=[
        RequestField("text_a", aliases=("text",)),
        RequestField("text_b", is_required=False),
    ],
    check_fields=check_pair,
    reads_all=True,
)
