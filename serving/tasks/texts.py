"""Tasks that return the labels, vectors or WordPieces of a text."""

import itertools
from typing import Any

import numpy as np

from data.classification import pooling
from data.text.windows import cut_spans
from serving.engines import Input
from serving.tasks.base import (
    DEFAULTS,
    Outputs,
    PairTask,
    Reply,
    Request,
    Row,
    TaskOptions,
    TextTask,
    to_number,
    to_numbers,
)


class Classify(PairTask):
    """Predicts one label, several labels or a number for a text or a pair."""

    name = "classify"
    flags = ("min_probability",)

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        super().__init__(model, options)
        self._stride = model.settings.get("doc_stride", 0)
        self._labels = model.settings.get("labels") or []
        mode = model.settings.get("output_mode")
        self._is_multilabel = mode == "multilabel"
        if self._stride:
            self.fields = {"text_a": True}

    def encode(self, request: Request) -> Row:
        """Returns a Row with one input, or one input per window of the text."""
        if not self._stride:
            return super().encode(request)
        tokens = self.model.tokenizer.tokenize(request["text_a"])
        # Also create a window for a text without WordPieces, because every
        # request must get a prediction.
        packed = [
            self.pack(request, tokens[start : start + length])
            for start, length in cut_spans(
                max(len(tokens), 1),
                self.model.max_seq_length - 2,
                self._stride,
            )
        ]
        inputs = [each.inputs[0] for each in packed]
        return Row(request, inputs, packed[0].tokens)

    def _pool(self, row: Row) -> dict[str, Any]:
        """Returns the mean outputs of a text's windows."""
        if len(row.outputs) == 1:
            return row.outputs[0]
        ((name, _),) = row.outputs[0].items()
        mode = self.model.settings["output_mode"]
        values = np.stack([np.atleast_1d(each[name]) for each in row.outputs])
        (pooled,) = pooling.pool(pooling.to_logits(values, mode), [0], mode)
        found = pooling.to_probabilities(pooled, mode)
        return {name: found.reshape(row.outputs[0][name].shape)}

    def read(self, row: Row) -> Reply:
        """Returns {"label", "probabilities"}, or {"value"} in regression.

        In multi-label classification, "label" is a list. Otherwise it is one
        label, or None if no probability reaches the option `min_probability`.
        """
        outputs = self._pool(row)
        if "values" in outputs:
            return {"value": to_number(outputs["values"])}
        labels, probabilities = self._labels, outputs["probabilities"]
        chosen = [*itertools.compress(labels, self._choose(probabilities))]
        numbers = to_numbers(probabilities)
        return {
            "label": chosen if self._is_multilabel else (chosen or [None])[0],
            "probabilities": dict(zip(labels, numbers, strict=True)),
        }

    def _choose(self, probabilities: np.ndarray) -> np.ndarray:
        """Returns True for each label that the reply contains, bool [L]."""
        if self._is_multilabel:
            chosen = probabilities > 0.5
        else:
            chosen = np.arange(len(probabilities)) == probabilities.argmax()
        return chosen & (probabilities >= self.options.min_probability)


class Embed(TextTask):
    """Computes vectors of a text and of its WordPieces."""

    name = "embed"
    flags = ("tokens",)
    fields = {"text": True}

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Computes the vectors of a text from the network's outputs.

        With the option `tokens`, also keeps the vectors of its WordPieces,
        which need much more memory.
        """
        sequence = outputs["sequence_output"][: len(encoded.ids)]
        # The mean includes [CLS] and [SEP], as in sentence-transformers.
        mean = sequence.mean(0)
        return {
            "pooled": outputs["pooled_output"],
            "mean": mean,
            "mean_normalized": mean / max(float(np.linalg.norm(mean)), 1e-12),
            "sequence": sequence if self.options.tokens else None,
        }

    def read(self, row: Row) -> Reply:
        """Returns the text's vectors {"pooled", "mean", "mean_normalized"}.

        With the option `tokens`, also returns "tokens" and "sequence".
        """
        (vectors,) = row.outputs
        answer: Reply = {
            name: to_numbers(vectors[name])
            for name in ("pooled", "mean", "mean_normalized")
        }
        if self.options.tokens:
            answer["tokens"] = row.tokens
            answer["sequence"] = [*map(to_numbers, vectors["sequence"])]
        return answer


class Tokenize(PairTask):
    """Returns the WordPieces that the model reads for a text or a pair."""

    name = "tokenize"

    def encode(self, request: Request) -> Row:
        """Returns a Row without inputs, because no network runs.

        Its `state` is the number of WordPieces before long texts are cut.
        """
        tokens = [*map(self.model.tokenizer.tokenize, self.texts_of(request))]
        count = sum(map(len, tokens))
        return Row(request, [], self.pack(request, *tokens).tokens, state=count)

    def read(self, row: Row) -> Reply:
        """Returns {"tokens", "num_wordpieces"} (see `TextModel.tokenize`)."""
        return {"tokens": row.tokens, "num_wordpieces": row.state}
