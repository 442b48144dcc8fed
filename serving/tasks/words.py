"""Tasks of a pretrained model: fill-mask and next-sentence."""

from typing import Any

import numpy as np

from serving.engines import Input
from serving.tasks.base import (
    MASK,
    Outputs,
    Reply,
    Request,
    Row,
    TextTask,
    to_number,
)


class FillMask(TextTask):
    """Predicts the WordPieces that fit each [MASK]."""

    name = "fill-mask"
    flags = ("top_k",)
    fields = {"text": True}
    predicts_words = True

    def check(self, request: Request) -> None:
        """Checks a request. The text must contain a [MASK]."""
        super().check(request)
        if MASK not in request["text"]:
            raise ValueError(
                f"no {MASK} in 'text'. Put it where a word is missing"
            )

    def encode(self, request: Request) -> Row:
        """Encodes a text. Each [MASK] in the text becomes one WordPiece."""
        tokenizer, most = self.model.tokenizer, self.model.max_seq_length
        tokens: list[str] = []
        for number, part in enumerate(request["text"].split(MASK)):
            tokens += [MASK] * (number > 0)
            if len(tokens) < most:
                tokens += tokenizer.tokenize_beginning(part, most)
        return self.pack(request, tokens)

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the top_k probabilities and WordPiece ids for each [MASK]."""
        ids, vocab = np.array(encoded.ids), self.model.tokenizer.vocab
        masks = np.flatnonzero(ids == vocab[MASK])
        # Drop probabilities of ids beyond the vocabulary, because the model's
        # embedding table may contain additional rows.
        num_tokens = len(self.model.tokenizer.tokens)
        probabilities = outputs["masked_lm_probabilities"][masks, :num_tokens]
        best = np.argsort(-probabilities, axis=-1, kind="stable")
        best = best[:, : self.options.top_k]
        return np.take_along_axis(probabilities, best, -1), best

    def read(self, row: Row) -> Reply:
        """Returns {"masks"}, and "num_masks_cut" if any [MASK] was cut off."""
        ((probabilities, ids),) = row.outputs
        num_cut = row.request["text"].count(MASK) - len(ids)
        if not len(ids):
            raise ValueError(
                f"every {MASK} is beyond the model's maximum length; shorten "
                "'text'"
            )
        tokens = self.model.tokenizer.tokens
        masks = [
            [
                {"token": tokens[i], "probability": to_number(value)}
                for i, value in zip(*of_mask, strict=True)
            ]
            for of_mask in zip(ids, probabilities, strict=True)
        ]
        return {"masks": masks} | (
            {"num_masks_cut": num_cut} if num_cut else {}
        )


class NextSentence(TextTask):
    """Predicts whether one sentence follows another."""

    name = "next-sentence"
    fields = {"text_a": True, "text_b": True}
    predicts_words = True

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the probability that the second text follows the first."""
        return outputs["next_sentence_probabilities"][0]

    def read(self, row: Row) -> Reply:
        """Returns the "probability" that text_b follows text_a, in a dict."""
        return {"probability": to_number(row.outputs[0])}
