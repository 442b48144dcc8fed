"""Computes vectors of texts and of their WordPieces."""

import numpy as np

from serving.engines import Input, OutputArrays
from serving.prepared_model import PreparedModel
from serving.serving_flags import TaskFlags
from serving.tasks.pairs import encode_pair
from serving.tasks.text_task import Reply, TextTask


def _decode(
    model: PreparedModel,
    packed: Input,
    outputs: list[OutputArrays],
    options: TaskFlags,
) -> Reply:
    sequence = outputs[0]["sequence_output"][: len(packed.ids)]
    # The mean includes [CLS] and [SEP], as in sentence-transformers.
    mean = sequence.mean(0)
    length = max(float(np.linalg.norm(mean)), 1e-12)
    reply: Reply = {
        "pooled": outputs[0]["pooled_output"],
        "mean": mean,
        "mean_normalized": mean / length,
    }
    if options.tokens:
        reply["tokens"] = model.tokenizer.convert_ids_to_tokens(packed.ids)
        reply["sequence"] = [*sequence]
    return reply


EMBED = TextTask(
    name="embed",
    encode=encode_pair,
    decode=_decode,
    fields={"text": True},
)
