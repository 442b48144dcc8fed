"""Computes vectors of texts and of their WordPieces."""

from typing import NotRequired

import numpy as np

from serving.engines import NetworkInput, OutputArrays
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.request_fields import RequestField
from serving.text_tasks.text_task import ReplyOptions, TextTask
from serving.text_tasks.tokenize import CutReply, encode_pair


class EmbedReply(CutReply):
    """The vectors of a text of N WordPieces, [W] each.

    Attributes:
        pooled: vector that BERT's classification heads read.
        mean: mean of the vectors of the WordPieces.
        mean_normalized: `mean` as a vector of length 1.
        tokens: the WordPieces [N], if they were asked for.
        sequence: vector of each WordPiece [N], if they were asked for.
    """

    pooled: list[float]
    mean: list[float]
    mean_normalized: list[float]
    tokens: NotRequired[list[str]]
    sequence: NotRequired[list[list[float]]]


def _decode_vectors(
    loaded_export: AnyLoadedExport,
    network_input: NetworkInput,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> EmbedReply:
    """Returns the vectors of one input.

    `outputs` contain the `sequence_output` [T, W] and the `pooled_output` [W].
    """
    sequence = outputs[0]["sequence_output"][: len(network_input.ids)]
    # The mean includes [CLS] and [SEP], as in sentence-transformers.
    mean = sequence.mean(0)
    length = max(float(np.linalg.norm(mean)), 1e-12)
    reply: EmbedReply = {
        "pooled": outputs[0]["pooled_output"].tolist(),
        "mean": mean.tolist(),
        "mean_normalized": (mean / length).tolist(),
    }
    if reply_options.tokens:
        reply["tokens"] = loaded_export.tokenizer.convert_ids_to_tokens(
            network_input.ids
        )
        reply["sequence"] = sequence.tolist()
    return reply


EMBED = TextTask(
    name="embed",
    encode=encode_pair,
    decode=_decode_vectors,
    fields=[RequestField("text")],
)
