"""The text task `tokenize`, which returns the WordPieces of a text."""

from typing import TypedDict

from serving.engines import OutputArrays
from serving.text_tasks.pairs import (
    PairRequest,
    check_pair,
    create_input,
    pair_of,
)
from serving.text_tasks.request_fields import RequestField
from serving.text_tasks.text_engine import AnyTextEngine
from serving.text_tasks.text_task import (
    EncodedRequest,
    ReplyOptions,
    TextTask,
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
    text_engine: AnyTextEngine, request: PairRequest
) -> EncodedRequest[TokenizeReply]:
    """Creates the reply, and no input, so that the network does not run."""
    tokenizer = text_engine.tokenizer
    tokens_a, tokens_b = map(tokenizer.tokenize, pair_of(request))
    network_input = create_input(text_engine, tokens_a, tokens_b)
    reply: TokenizeReply = {
        "tokens": tokenizer.convert_ids_to_tokens(network_input.ids),
        "num_wordpieces": len(tokens_a) + len(tokens_b),
    }
    return EncodedRequest([], reply)


def _decode_tokens(
    text_engine: AnyTextEngine,
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
