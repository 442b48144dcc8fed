"""Tasks over whole texts: labels, vectors, and what a model reads."""

import itertools
from typing import Any

import numpy as np

from serving.engines import Input
from serving.requests import to_number
from serving.tasks.base import (
    Encoded,
    Outputs,
    PairTask,
    Reply,
    Request,
    Row,
    TextTask,
    TooLarge,
)


class Classify(PairTask):
    """The label of a text or a pair, several labels, or a number."""

    name = "classify"

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"label", "probabilities"}, or {"value"} in regression."""
        (outputs,) = row.outputs
        if "values" in outputs:
            return {"value": to_number(outputs["values"])}
        labels = self.model.settings["labels"]
        probabilities = outputs["probabilities"]
        label = labels[probabilities.argmax()]
        if self.model.settings["output_mode"] == "multilabel":
            label = [*itertools.compress(labels, probabilities > 0.5)]
        numbers = map(to_number, probabilities)
        return {
            "label": label,
            "probabilities": dict(zip(labels, numbers, strict=True)),
        }


class Embed(TextTask):
    """The vectors of a text, pooled and mean, and those of its WordPieces."""

    name = "embed"
    fields = {"text": True}

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the vectors, without those of padding."""
        sequence = outputs["sequence_output"][: len(encoded.ids)]
        return outputs["pooled_output"], sequence

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"pooled", "mean"}, and "tokens" and "sequence" if asked."""
        ((pooled, sequence),) = row.outputs
        # Over all WordPieces including [CLS] and [SEP], as in sentence models.
        vectors = {"pooled": pooled, "mean": sequence.mean(0)}
        answer: Reply = {k: [*map(to_number, v)] for k, v in vectors.items()}
        if self.options.tokens:
            answer["tokens"] = row.encoded.tokens
            answer["sequence"] = [[*map(to_number, v)] for v in sequence]
        return answer


class Tokenize(PairTask):
    """The WordPieces that the model reads of a text or a pair."""

    name = "tokenize"

    def encode(self, request: Request) -> Encoded:
        """Returns no inputs; the texts' WordPieces are all counted."""
        tokens = [*map(self.model.tokenizer.tokenize, self.texts_of(request))]
        count = sum(map(len, tokens))
        return Encoded([], self.pack(*tokens).tokens, state=count)

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"tokens", "num_wordpieces"}; the number is of all, uncut."""
        encoded = row.encoded
        return {"tokens": encoded.tokens, "num_wordpieces": encoded.state}


class Attention(PairTask):
    """Attention weights between the WordPieces of a text or a pair.

    Only a SavedModel's signature over text returns them.
    """

    name = "attention"

    def encode(self, request: Request) -> Encoded:
        """Returns no inputs, but the outputs for the texts."""
        text_a, text_b = ([text] for text in self.texts_of(request))
        outputs = self.model.engine.run_signature(
            "attention", {"text_a": text_a, "text_b": text_b}
        )
        encoded = super().encode(request)
        return encoded._replace(inputs=[], state=outputs["attention_probs"][0])

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"tokens", "attention"}: by block, head, from and to."""
        tokens, probs = row.encoded.tokens, row.encoded.state
        most = self.options.max_values
        if most is not None and probs.size > most:
            raise TooLarge(
                f"the attention of {len(tokens)} WordPieces holds {probs.size} "
                f"values, more than {most}; send a shorter text"
            )
        if not np.isfinite(probs).all():
            raise ValueError("the model gives weights that are not finite")
        return {
            "tokens": tokens,
            "attention": np.round(probs.astype(np.float64), 6).tolist(),
        }
