"""The text task `tokenize`, which shows what a model reads of a text."""

from typing import TypedDict

from serving.engines import OutputArrays
from serving.text_tasks.loaded_model import LoadedModel
from serving.text_tasks.pairs import check_pair, pack_input, pair_of
from serving.text_tasks.request_fields import CheckedRequest, Field
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


def _encode_wordpieces(
    loaded_model: LoadedModel, request: CheckedRequest
) -> EncodedRequest[TokenizeReply]:
    """Creates the reply, and no input, so that the network does not run."""
    tokens = [
        loaded_model.tokenizer.tokenize(text) for text in pair_of(request)
    ]
    ids = pack_input(loaded_model, *tokens).ids
    names = loaded_model.tokenizer.convert_ids_to_tokens(ids)
    reply: TokenizeReply = {
        "tokens": names,
        "num_wordpieces": sum(map(len, tokens)),
    }
    return EncodedRequest([], reply)


def _decode_wordpieces(
    loaded_model: LoadedModel,
    origin: TokenizeReply,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> TokenizeReply:
    return origin


TOKENIZE = TextTask(
    name="tokenize",
    encode=_encode_wordpieces,
    decode=_decode_wordpieces,
    fields=[
        Field("text_a", aliases=("text",)),
        Field("text_b", is_required=False),
    ],
    check_fields=check_pair,
    reads_all=True,
)
