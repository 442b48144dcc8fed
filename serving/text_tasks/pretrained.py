"""Text tasks of a pretrained model: fill-mask and next-sentence."""

from collections.abc import Sequence
from typing import NamedTuple, NotRequired, TypedDict

import numpy as np

from data.arrays import FloatArray
from data.text.tokenization import MASK
from serving.engines import NetworkInput, OutputArrays
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.request_fields import RequestError, RequestField
from serving.text_tasks.text_task import EncodedRequest, ReplyOptions, TextTask
from serving.text_tasks.tokenize import (
    CutReply,
    check_pair,
    create_input,
    encode_pair,
)


class MaskCandidate(TypedDict):
    """A WordPiece that may stand for a mask.

    Attributes:
        token: the WordPiece, such as "boat" or "##s".
        probability: probability that the WordPiece stands in the gap.
    """

    token: str
    probability: float


class FillMaskRequest(TypedDict):
    """A text with masks."""

    text: str


class FillMaskReply(CutReply):
    """The reply to a text with masks.

    Attributes:
        masks: the most probable WordPieces for each mask that the model reads.
        num_masks_cut: number of the other masks, if there are any.
    """

    masks: list[list[MaskCandidate]]
    num_masks_cut: NotRequired[int]


class NextSentenceReply(CutReply):
    """The reply to a pair of texts.

    Attributes:
        probability: probability that the second text follows the first.
    """

    probability: float


class _MaskedText(NamedTuple):
    """The parts of a request to fill masks that decoding needs.

    Attributes:
        ids: ids of the WordPieces that the network reads.
        num_masks: number of masks in the text.
    """

    ids: list[int]
    num_masks: int


def _encode_masks(
    loaded_export: AnyLoadedExport, request: FillMaskRequest
) -> EncodedRequest[_MaskedText]:
    if MASK not in request["text"]:
        raise RequestError(
            f"no {MASK} in 'text'. Put it where a word is missing"
        )
    # Each [MASK] becomes one WordPiece.
    tokens = loaded_export.tokenizer.tokenize_beginning(
        request["text"], loaded_export.max_seq_length, words=(MASK,)
    )
    network_input = create_input(loaded_export, tokens)
    num_masks = request["text"].count(MASK)
    return EncodedRequest(
        [network_input], _MaskedText(network_input.ids, num_masks)
    )


def _decode_masks(
    loaded_export: AnyLoadedExport,
    masked: _MaskedText,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> FillMaskReply:
    """Returns the most probable WordPieces for each mask."""
    mask_id = loaded_export.tokenizer.vocab[MASK]
    positions = [
        position
        for position, token_id in enumerate(masked.ids)
        if token_id == mask_id
    ]
    # Drop probabilities of ids beyond the vocabulary, because the model's
    # embedding table may contain additional rows.
    tokens = loaded_export.tokenizer.tokens
    probabilities = outputs[0]["masked_lm_probabilities"]
    reply: FillMaskReply = {
        "masks": [
            _list_candidates(tokens, values, reply_options.top_k)
            for values in probabilities[positions, : len(tokens)]
        ]
    }
    if num_cut := masked.num_masks - len(positions):
        reply["num_masks_cut"] = num_cut
    return reply


def _list_candidates(
    tokens: Sequence[str], probabilities: FloatArray, top_k: int
) -> list[MaskCandidate]:
    """Returns the `top_k` most probable tokens for a mask, the best first.

    `probabilities` [V] are those of the V tokens.
    """
    best_ids = np.argsort(-probabilities, kind="stable")[:top_k]
    return [
        {
            "token": tokens[token_id],
            "probability": float(probabilities[token_id]),
        }
        for token_id in best_ids
    ]


FILL_MASK = TextTask(
    name="fill-mask",
    encode=_encode_masks,
    decode=_decode_masks,
    fields=[RequestField("text")],
    predicts_words=True,
)


def _decode_next_sentence(
    loaded_export: AnyLoadedExport,
    decoding_context: NetworkInput,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> NextSentenceReply:
    is_next, _ = outputs[0]["next_sentence_probabilities"].tolist()
    return {"probability": is_next}


NEXT_SENTENCE = TextTask(
    name="next-sentence",
    encode=encode_pair,
    decode=_decode_next_sentence,
    fields=[RequestField("text_a", aliases=("text",)), RequestField("text_b")],
    check_fields=check_pair,
    predicts_words=True,
)
