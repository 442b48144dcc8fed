"""The tasks of exported models, one class each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from data.ner import scoring
from serving.requests import MASK
from serving.text_task import (
    Outputs,
    Reply,
    Request,
    TextTask,
    TooLarge,
    check_text,
    to_number,
    to_text,
)


class FillMask(TextTask):
    """The WordPieces that fit each [MASK]."""

    name, signature = "fill-mask", "fill_mask"
    fields = {"text": True}

    def check(self, request: Request) -> None:
        """Also refuses a text without [MASK]."""
        super().check(request)
        if MASK not in request["text"]:
            raise ValueError(f"no {MASK} in 'text'")

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        num_masks = int(outputs["num_masks"][row])
        num_cut = request["text"].count(MASK) - num_masks
        if not num_masks:
            raise ValueError(
                f"every {MASK} is beyond the WordPieces that the model takes; "
                "shorten 'text'"
            )
        answer: dict[str, Any] = {
            "masks": [
                [
                    {
                        "token": to_text(token),
                        "probability": to_number(probability),
                    }
                    for token, probability in zip(
                        outputs["tokens"][row, mask, : self.options.top_k],
                        outputs["probabilities"][
                            row, mask, : self.options.top_k
                        ],
                        strict=True,
                    )
                ]
                for mask in range(num_masks)
            ]
        }
        if num_cut:
            answer["num_masks_cut"] = num_cut
        return answer


class NextSentence(TextTask):
    """Scores whether one sentence follows another."""

    name, signature = "next-sentence", "next_sentence"
    fields = {"text_a": True, "text_b": True}

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        return {"probability": to_number(outputs["probability"][row])}


class _PairTask(TextTask):
    """A task over a text, or a pair of them."""

    fields = {"text_a": True, "text_b": False}

    def check(self, request: Request) -> None:
        """Also accepts `text` for `text_a`."""
        if "text" in request:
            if "text_a" in request:
                raise ValueError("'text' and 'text_a' are the same; give one")
            request["text_a"] = request.pop("text")
        super().check(request)


class Classify(_PairTask):
    """The label of a text or a pair, several labels, or a number."""

    name = signature = "classify"

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        if "values" in outputs:
            return {"value": to_number(outputs["values"][row])}
        label = outputs["label"][row]
        if isinstance(label, np.ndarray):
            label = [to_text(one) for one in label if one]
        else:
            label = to_text(label)
        labels = map(to_text, outputs["labels"][row])
        probabilities = map(to_number, outputs["probabilities"][row])
        return {
            "label": label,
            "probabilities": dict(zip(labels, probabilities, strict=True)),
        }


class Answer(TextTask):
    """The answer to a question in a passage."""

    name = signature = "answer"
    fields = {"question": True, "context": True}

    def call_all(self, requests: Sequence[Request]) -> Outputs:
        """See TextTask; several answers have their own signature."""
        if self.options.n_best > 1:
            inputs = {
                field: [request[field] for request in requests]
                for field in self.fields
            }
            return self.call("answer_n_best", inputs)
        return super().call_all(requests)

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask; `start` and `end` count characters."""
        context = request["context"].encode()

        def describe(*values: Any) -> dict[str, Any]:
            text, probability, *span = values
            start, end = (_count_characters(context, byte) for byte in span)
            return {
                "answer": to_text(text),
                "probability": to_number(probability),
                "start": start,
                "end": end,
                "start_byte": int(span[0]),
                "end_byte": int(span[1]),
            }

        answer = describe(
            *(
                outputs[name][row]
                for name in ("answer", "probability", "start_byte", "end_byte")
            )
        )
        answer["null_odds"] = to_number(outputs["null_odds"][row])
        if self.options.n_best > 1:
            count = min(outputs["num_answers"][row], self.options.n_best)
            columns = (
                outputs[name][row, :count]
                for name in (
                    *("answers", "probabilities"),
                    *("start_bytes", "end_bytes"),
                )
            )
            answer["n_best"] = [
                describe(*values) for values in zip(*columns, strict=True)
            ]
        return answer


class Tag(TextTask):
    """Words and their tags."""

    name = signature = "tag"
    fields = {"text": True}

    def check(self, request: Request) -> None:
        """Also accepts a list of `words` instead of a text."""
        if "words" not in request:
            super().check(request)
            return
        words = request["words"]
        if not isinstance(words, list):
            raise ValueError(
                f"'words' must be a list. Received: {repr(words)[:80]}"
            )
        for word in words:
            check_text("words", word)
            if len(word.split()) != 1:
                raise ValueError(
                    "each of 'words' must be one word, without white space. "
                    f"Received: {repr(word)[:80]}"
                )

    def texts_of(self, request: Request) -> list[str]:
        """See TextTask; words are one text."""
        if "words" in request:
            return [" ".join(request["words"])]
        return super().texts_of(request)

    def answer(self, requests: Sequence[Request]) -> list[Reply]:
        """See TextTask; texts and word lists have their own signatures."""
        answers: dict[int, Reply] = {}
        for has_words in (False, True):
            rows = [
                row
                for row, request in enumerate(requests)
                if ("words" in request) == has_words
            ]
            if rows:
                found = super().answer([requests[row] for row in rows])
                answers |= zip(rows, found, strict=True)
        return [answers[row] for row in range(len(requests))]

    def call_all(self, requests: Sequence[Request]) -> Outputs:
        """See TextTask."""
        if "words" in requests[0]:
            texts = [text for one in requests for text in self.texts_of(one)]
            return self.call("tag_words", {"text": texts})
        return super().call_all(requests)

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask; `start` and `end` count characters of the text."""
        count = outputs["num_words"][row]
        words = [to_text(word) for word in outputs["words"][row, :count]]
        tags = [to_text(tag) for tag in outputs["tags"][row, :count]]
        answer: dict[str, Any] = {"words": words, "tags": tags}
        if "text" in request:
            text = request["text"]
            spans = _find_words(text, words)
            answer["spans"] = spans
            answer["entities"] = [
                {
                    "type": entity_type,
                    "text": text[spans[first][0] : spans[last - 1][1]],
                    "start": spans[first][0],
                    "end": spans[last - 1][1],
                }
                for entity_type, first, last in scoring.find_entities(tags)
            ]
        return answer


class Embed(TextTask):
    """The vectors of a text, pooled and mean, and those of its WordPieces."""

    name = signature = "embed"
    fields = {"text": True}

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        pooled = [to_number(value) for value in outputs["pooled_output"][row]]
        count = outputs["lengths"][row]
        # Over all WordPieces including [CLS] and [SEP], as in sentence models.
        mean = outputs["sequence_output"][row, :count].mean(0)
        answer: dict[str, Any] = {
            "pooled": pooled,
            "mean": [to_number(value) for value in mean],
        }
        if self.options.tokens:
            answer["tokens"] = [
                to_text(token) for token in outputs["tokens"][row, :count]
            ]
            answer["sequence"] = [
                [to_number(value) for value in vector]
                for vector in outputs["sequence_output"][row, :count]
            ]
        return answer


class Tokenize(_PairTask):
    """The WordPieces that the model reads of a text or a pair."""

    name = signature = "tokenize"

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask; `num_wordpieces` includes those that are cut off."""
        count = outputs["lengths"][row]
        tokens = [to_text(token) for token in outputs["tokens"][row, :count]]
        return {
            "tokens": tokens,
            "num_wordpieces": int(outputs["num_wordpieces"][row]),
        }


class Attention(_PairTask):
    """Attention weights between the WordPieces of a text or a pair."""

    name = signature = "attention"

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask; `attention` is by block, head, from and to."""
        count = outputs["lengths"][row]
        probs = outputs["attention_probs"][row, :, :, :count, :count]
        most = self.options.max_values
        if most is not None and probs.size > most:
            raise TooLarge(
                f"the attention of {count} WordPieces holds {probs.size} "
                f"values, more than {most}; send a shorter text"
            )
        if not np.isfinite(probs).all():
            raise ValueError("the model gives weights that are not finite")
        return {
            "tokens": [
                to_text(token) for token in outputs["tokens"][row, :count]
            ],
            "attention": np.round(probs.astype(np.float64), 6).tolist(),
        }


# In the order in which a model's default task is chosen.
TASKS: tuple[type[TextTask], ...] = (
    FillMask,
    NextSentence,
    Classify,
    Answer,
    Tag,
    Embed,
    Tokenize,
    Attention,
)


def _count_characters(data: bytes, byte: int) -> int:
    """Converts a byte offset to characters; -1 stays -1."""
    return -1 if byte < 0 else len(data[:byte].decode("utf-8", "ignore"))


def _find_words(text: str, words: Sequence[str]) -> list[list[int]]:
    """Returns [start, end] in characters of words, which are in order."""
    spans, end = [], 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        spans.append([start, end])
    return spans
