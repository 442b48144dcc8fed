"""Tasks of a pretrained model: fill-mask and next-sentence."""

import numpy as np

from serving.engines import Input
from serving.serving_flags import TaskFlags
from serving.tasks.base import (
    MASK,
    Encoded,
    OutputArrays,
    Reply,
    Request,
    TaskModel,
    TextTask,
    encode_pair,
    pack_input,
)

# The ids that the network reads, and the number of masks in the text.
Masks = tuple[list[int], int]


def _encode_masks(model: TaskModel, request: Request) -> Encoded[Masks]:
    if MASK not in request["text"]:
        raise ValueError(f"no {MASK} in 'text'. Put it where a word is missing")
    # Each [MASK] becomes one WordPiece.
    tokens = model.tokenizer.tokenize_beginning(
        request["text"], model.max_seq_length, words=(MASK,)
    )
    packed = pack_input(model, tokens)
    return Encoded([packed], (packed.ids, request["text"].count(MASK)))


def _decode_masks(
    model: TaskModel,
    context: Masks,
    outputs: list[OutputArrays],
    options: TaskFlags,
) -> Reply:
    ids, num_masks = context
    mask = model.tokenizer.vocab[MASK]
    places = [place for place, each in enumerate(ids) if each == mask]
    # Drop probabilities of ids beyond the vocabulary, because the model's
    # embedding table may contain additional rows.
    tokens = model.tokenizer.tokens
    every = outputs[0]["masked_lm_probabilities"][places, : len(tokens)]
    reply: Reply = {"masks": []}
    for values in every:
        best = np.argsort(-values, kind="stable")[: options.top_k]
        reply["masks"].append(
            [{"token": tokens[i], "probability": values[i]} for i in best]
        )
    if num_cut := num_masks - len(places):
        reply["num_masks_cut"] = num_cut
    return reply


FILL_MASK = TextTask(
    "fill-mask",
    _encode_masks,
    _decode_masks,
    {"text": True},
    predicts_words=True,
)


def _decode_pair(
    model: TaskModel,
    context: Input,
    outputs: list[OutputArrays],
    options: TaskFlags,
) -> Reply:
    return {"probability": outputs[0]["next_sentence_probabilities"][0]}


NEXT_SENTENCE = TextTask(
    "next-sentence",
    encode_pair,
    _decode_pair,
    {"text_a": True, "text_b": True},
    other_names={"text_a": ["text"]},
    predicts_words=True,
)
