"""Tasks that return the labels, vectors or WordPieces of a text."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from data.classification import windows
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
    signatures = {
        "classify": {"text_a": "text_a", "text_b": "text_b"},
        "classify_text": {"text": "text_a"},
    }

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        super().__init__(model, options)
        self._stride = model.settings.get("doc_stride", 0)
        self._labels = model.settings.get("labels") or []
        mode = model.settings.get("output_mode")
        self._is_multilabel = mode == "multilabel"
        if self._stride:
            self.fields = {"text_a": True}
            self.signatures = self.signatures | {
                "classify": {"text_a": "text_a"}
            }

    def check(self, request: Request) -> None:
        """Checks a request. A model that reads windows accepts no `text_b`."""
        super().check(request)
        if self._stride and request.get("text_b"):
            raise ValueError(
                "this model reads a text in windows (doc_stride="
                f"{self._stride}), so it accepts no 'text_b'. Remove the field"
            )

    def encode(self, request: Request) -> Row:
        """Returns a Row with one input, or one input per window of the text."""
        if not self._stride:
            return super().encode(request)
        tokens = self.model.tokenizer.tokenize(request["text_a"])
        # Also create a window for a text without WordPieces, because every
        # request must get a prediction.
        packed = [
            self.pack(request, tokens[start : start + length], [])
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
        (pooled,) = windows.pool(windows.to_logits(values, mode), [0], mode)
        found = windows.to_probabilities(pooled, mode)
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

    def read_arrays(self, row: Row) -> Outputs:
        """Converts a Row to the outputs of the signature `classify`.

        In multi-label classification, `label` is b"" for each label that was
        not chosen.
        """
        outputs = self._pool(row)
        if "values" in outputs:
            return outputs
        labels = to_bytes(self._labels)
        chosen = np.where(self._choose(outputs["probabilities"]), labels, b"")
        label = chosen if self._is_multilabel else np.array(max(chosen), object)
        return {**outputs, "label": label, "labels": labels}

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
    signatures = {"embed": {"text": "text"}}

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

    def read_arrays(self, row: Row) -> Outputs:
        """Converts a Row to the outputs of `embed`. Needs option `tokens`."""
        (vectors,) = row.outputs
        return {
            "pooled_output": vectors["pooled"],
            "mean_output": vectors["mean"],
            "mean_normalized": vectors["mean_normalized"],
            "sequence_output": vectors["sequence"],
            **tokens_of(row),
        }


class Tokenize(PairTask):
    """Returns the WordPieces that the model reads for a text or a pair."""

    name = "tokenize"
    signatures = {"tokenize": {"text_a": "text_a", "text_b": "text_b"}}

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

    def read_arrays(self, row: Row) -> Outputs:
        """Converts a Row to the outputs of the signature `tokenize`."""
        count = np.array(row.state, np.int32)
        return tokens_of(row) | {"num_wordpieces": count}


def to_bytes(texts: Sequence[str]) -> np.ndarray:
    """Encodes texts as an array of bytes objects in UTF-8."""
    array = np.empty(len(texts), object)
    array[:] = [text.encode() for text in texts]
    return array


def tokens_of(row: Row) -> Outputs:
    """Returns the outputs `tokens` and `lengths` for a Row."""
    tokens = to_bytes(row.tokens)
    return {"tokens": tokens, "lengths": np.array(len(tokens), np.int32)}
