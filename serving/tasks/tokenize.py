"""Shows the WordPieces that a model reads. The network does not run."""

from serving.tasks.base import (
    Encoded,
    Model,
    Outputs,
    Reply,
    Request,
    TaskOptions,
    TextTask,
    pack_input,
    pair_of,
)


def _encode(model: Model, request: Request) -> Encoded[Reply]:
    tokens = [model.tokenizer.tokenize(text) for text in pair_of(request)]
    read = model.tokenizer.convert_ids_to_tokens(pack_input(model, *tokens).ids)
    reply = {"tokens": read, "num_wordpieces": sum(map(len, tokens))}
    return Encoded([], reply)


def _decode(
    model: Model, context: Reply, outputs: list[Outputs], options: TaskOptions
) -> Reply:
    return context


TOKENIZE = TextTask(
    "tokenize",
    _encode,
    _decode,
    {"text_a": True, "text_b": False},
    other_names={"text_a": ["text"]},
    reads_all=True,
)
