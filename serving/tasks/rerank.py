"""The task that ranks passages by how well they match a query."""

import numpy as np

from serving.engines import Input
from serving.tasks.base import (
    Model,
    Outputs,
    Packed,
    Reply,
    Request,
    TaskOptions,
    TextTask,
    pack,
    to_number,
)


def _encode(model: Model, request: Request) -> tuple[list[Input], list[Packed]]:
    """Returns one input for each pair of the query and a passage."""
    most, cut = model.max_seq_length, model.tokenizer.tokenize_beginning
    query = cut(request["query"], most)
    packed = [pack(model, query, cut(x, most)) for x in request["passages"]]
    return [pair.input for pair in packed], packed


def _decode(
    model: Model,
    pairs: list[Packed],
    outputs: list[Outputs],
    options: TaskOptions,
) -> Reply:
    """Returns {"ranking": list of {"index", "score"}}, best passage first.

    "index" is the position of the passage in the request. "score" is the output
    of a model with one output, else the probability of the second of two
    labels.
    """
    scores = np.array([_score(each) for each in outputs], np.float32)
    reply: Reply = {
        "ranking": [
            {"index": index, "score": to_number(scores[index])}
            for index in np.argsort(-scores, kind="stable").tolist()
        ]
    }
    longest = max(pairs, key=lambda pair: pair.num_cut, default=None)
    return longest.add_num_cut(reply) if longest else reply


def _score(outputs: Outputs) -> float:
    if "values" in outputs:
        return float(outputs["values"])
    return float(outputs["probabilities"][1])


RERANK = TextTask(
    "rerank",
    _encode,
    _decode,
    {"query": True, "passages": True},
    lists=("passages",),
)
