"""The task that ranks passages by how well they match a query."""

from typing import TypedDict

import numpy as np

from serving.engines import OutputArrays
from serving.text_tasks.loaded_model import LoadedModel
from serving.text_tasks.pairs import CutReply, pack_input
from serving.text_tasks.reply_options import ReplyOptions
from serving.text_tasks.request_fields import CheckedRequest, Field
from serving.text_tasks.text_task import EncodedRequest, TextTask


class RankedPassage(TypedDict):
    """A passage in a ranking.

    Attributes:
        index: index of the passage in the request.
        score: how well the passage matches the query.
    """

    index: int
    score: float


class RerankReply(CutReply):
    """The reply to a query.

    Attributes:
        ranking: all passages, the best first.
    """

    ranking: list[RankedPassage]


def _encode_passages(
    loaded_model: LoadedModel, request: CheckedRequest
) -> EncodedRequest[None]:
    max_seq_length = loaded_model.max_seq_length
    tokenize = loaded_model.tokenizer.tokenize_beginning
    query = tokenize(request["query"], max_seq_length)
    inputs = [
        pack_input(loaded_model, query, tokenize(passage, max_seq_length))
        for passage in request["passages"]
    ]
    return EncodedRequest(inputs, None)


def _decode_ranking(
    loaded_model: LoadedModel,
    context: None,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> RerankReply:
    """Returns the passages by their scores, the best first.

    The score is the output of a model with one output, else the probability of
    the second of two labels.
    """
    values = [
        arrays["values"] if "values" in arrays else arrays["probabilities"][1]
        for arrays in outputs
    ]
    scores = np.array(values, np.float32).reshape(len(values))
    order = np.argsort(-scores, kind="stable")
    pairs = zip(order.tolist(), scores[order].tolist(), strict=True)
    return {
        "ranking": [{"index": index, "score": score} for index, score in pairs]
    }


RERANK = TextTask(
    name="rerank",
    encode=_encode_passages,
    decode=_decode_ranking,
    fields=[Field("query"), Field("passages")],
)
