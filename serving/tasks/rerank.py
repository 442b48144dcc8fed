"""The task that ranks passages by how well they match a query."""

import numpy as np

from serving.serving_flags import TaskFlags
from serving.tasks.base import (
    Encoded,
    OutputArrays,
    Reply,
    Request,
    TaskModel,
    TextTask,
    pack_input,
)


def _encode(model: TaskModel, request: Request) -> Encoded[None]:
    most = model.max_seq_length
    cut = model.tokenizer.tokenize_beginning
    query = cut(request["query"], most)
    inputs = [
        pack_input(model, query, cut(passage, most))
        for passage in request["passages"]
    ]
    return Encoded(inputs, None)


def _decode(
    model: TaskModel,
    context: None,
    outputs: list[OutputArrays],
    options: TaskFlags,
) -> Reply:
    # "score" is the output of a model with one output, else the probability of
    # the second of two labels.
    values = [
        x["values"] if "values" in x else x["probabilities"][1] for x in outputs
    ]
    scores = np.array(values, np.float32).reshape(len(values))
    order = np.argsort(-scores, kind="stable")
    pairs = zip(order.tolist(), scores[order].tolist(), strict=True)
    return {"ranking": [{"index": i, "score": score} for i, score in pairs]}


RERANK = TextTask("rerank", _encode, _decode, {"query": True, "passages": True})
