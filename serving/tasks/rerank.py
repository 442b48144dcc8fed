"""The task that ranks passages by how well they match a query."""

import numpy as np

from serving.tasks.base import (
    Encoded,
    Model,
    Outputs,
    Reply,
    Request,
    TaskOptions,
    TextTask,
    pack_input,
)


def _encode(model: Model, request: Request) -> Encoded[None]:
    most = model.max_seq_length
    cut = model.tokenizer.tokenize_beginning
    query = cut(request["query"], most)
    inputs = [
        pack_input(model, query, cut(passage, most))
        for passage in request["passages"]
    ]
    return Encoded(inputs, None)


def _decode(
    model: Model, context: None, outputs: list[Outputs], options: TaskOptions
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
