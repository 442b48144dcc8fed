"""Tasks of exported models, one class each: texts in, plain Python out."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from data.ner import scoring
from serving.requests import MASK, check_text, listed, to_number, to_texts

Request = dict[str, Any]
# The outputs for one request, by name.
Row = Mapping[str, Any]
Reply = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class TaskOptions:
    """Options that limit or extend answers.

    Attributes:
        top_k: WordPieces for each mask, up to the number that the export
            returns.
        tokens: whether to return each WordPiece's vector too.
        n_best: answers to each question.
        max_values: maximum numbers in the attention of one text; None = any.
    """

    top_k: int = 5
    tokens: bool = False
    n_best: int = 1
    max_values: int | None = None


DEFAULTS = TaskOptions()


class TooLarge(ValueError):
    """The answer would hold more numbers than TaskOptions.max_values."""


class TextTask(abc.ABC):
    """A task of an exported model.

    Args:
        model: a models.TextModel.
        options: TaskOptions.
    """

    #: As --task names it.
    name: str
    #: The signature that it needs.
    signature: str
    #: Fields of a request, and whether each must be there.
    fields: dict[str, bool] = {}
    #: Whether the model reads only the beginning of a long text.
    cuts = True

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        self.model = model
        self.options = options

    def check(self, request: Request) -> None:
        """Checks a request.

        Raises:
            ValueError: a field is missing or is not text.
        """
        for field, is_needed in self.fields.items():
            if field not in request and is_needed:
                raise ValueError(
                    f"no {field!r}; {self.name} takes {listed(self.fields)}"
                )
            check_text(field, request.get(field, ""))

    def texts_of(self, request: Request) -> list[str]:
        """Returns the text of each field, checked; "" for none."""
        return [request.get(field, "") for field in self.fields]

    def pair_of(self, request: Request) -> tuple[str, str]:
        """Returns texts with as many WordPieces as those of a request."""
        first, second = [*self.texts_of(request), ""][:2]
        return first, second

    def signature_of(self, request: Request) -> str:
        """Returns the signature that answers a request."""
        return self.signature

    def answer(self, requests: Sequence[Request]) -> list[Reply]:
        """Returns the answer to each request.

        Raises:
            ValueError: one of them has no answer.
        """
        answers: list[Reply] = []
        for number, answer in enumerate(self.answer_each(requests), start=1):
            if isinstance(answer, ValueError):
                if len(requests) == 1:
                    raise answer
                raise ValueError(f"text {number}: {answer}")
            answers.append(answer)
        return answers

    def answer_each(
        self, requests: Sequence[Request]
    ) -> list[Reply | ValueError]:
        """Returns the answer to each request, or why it has none.

        If the model fails on them together, they are tried one by one.
        """
        answers: list[Reply | ValueError] = []
        try:
            rows = self.model.compute(self, requests)
        except ValueError as error:
            if len(requests) == 1:
                return [error]
            for request in requests:
                answers += self.answer_each([request])
            return answers
        for request, row in zip(requests, rows, strict=True):
            try:
                answers.append(self.reply(request, row))
            except ValueError as error:
                answers.append(error)
        return answers

    def reply(self, request: Request, row: Row) -> Reply:
        """Returns `read`'s answer, with "num_wordpieces_cut" if not 0."""
        answer, count = self.read(request, row), row.get("num_wordpieces_cut")
        return answer | ({"num_wordpieces_cut": int(count)} if count else {})

    @abc.abstractmethod
    def read(self, request: Request, row: Row) -> Reply:
        """Returns the answer in the model's outputs for a request.

        Raises:
            ValueError: there is none.
        """


class FillMask(TextTask):
    """The WordPieces that fit each [MASK]."""

    name, signature = "fill-mask", "fill_mask"
    fields = {"text": True}

    def check(self, request: Request) -> None:
        """Also refuses a text without [MASK]."""
        super().check(request)
        if MASK not in request["text"]:
            raise ValueError(f"no {MASK} in 'text'")

    def pair_of(self, request: Request) -> tuple[str, str]:
        """Puts a word of one WordPiece in place of each [MASK]."""
        return request["text"].replace(MASK, " . "), ""

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"masks"}, and "num_masks_cut" if some were cut off."""
        num_masks = int(row["num_masks"])
        num_cut = request["text"].count(MASK) - num_masks
        if not num_masks:
            raise ValueError(
                f"every {MASK} is beyond the WordPieces that the model takes; "
                "shorten 'text'"
            )
        answer: Reply = {"masks": []}
        for mask in range(num_masks):
            tokens = to_texts(row["tokens"][mask][: self.options.top_k])
            answer["masks"].append(
                [
                    {"token": token, "probability": to_number(probability)}
                    for token, probability in zip(
                        tokens, row["probabilities"][mask], strict=False
                    )
                ]
            )
        return answer | ({"num_masks_cut": num_cut} if num_cut else {})


class NextSentence(TextTask):
    """Scores whether one sentence follows another."""

    name, signature = "next-sentence", "next_sentence"
    fields = {"text_a": True, "text_b": True}

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"probability"}."""
        return {"probability": to_number(row["probability"])}


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

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"label", "probabilities"}, or {"value"} in regression."""
        if "values" in row:
            return {"value": to_number(row["values"])}
        label = row["label"]
        if isinstance(label, bytes):
            label = label.decode()
        else:
            label = to_texts(filter(None, label))
        probabilities = map(to_number, row["probabilities"])
        labels = to_texts(row["labels"])
        return {
            "label": label,
            "probabilities": dict(zip(labels, probabilities, strict=True)),
        }


class Answer(TextTask):
    """The answer to a question in a passage."""

    name = signature = "answer"
    fields = {"question": True, "context": True}
    cuts = False

    def signature_of(self, request: Request) -> str:
        """Returns another signature for several answers."""
        return "answer_n_best" if self.options.n_best > 1 else "answer"

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"answer", ...}; `start` and `end` count characters."""
        context = request["context"].encode()

        def count_characters(byte: int) -> int:
            """Converts a byte offset to characters; -1 stays -1."""
            if byte < 0:
                return -1
            return len(context[:byte].decode("utf-8", "ignore"))

        def describe(
            text: bytes, probability: float, start: int, end: int
        ) -> Reply:
            return {
                "answer": text.decode(),
                "probability": to_number(probability),
                "start": count_characters(start),
                "end": count_characters(end),
                "start_byte": int(start),
                "end_byte": int(end),
            }

        names = ("answer", "probability", "start_byte", "end_byte")
        answer = describe(*(row[name] for name in names))
        answer["null_odds"] = to_number(row["null_odds"])
        if self.options.n_best > 1:
            count = min(row["num_answers"], self.options.n_best)
            names = ("answers", "probabilities", "start_bytes", "end_bytes")
            columns = (row[name][:count] for name in names)
            answer["n_best"] = [*map(describe, *columns)]
        return answer


class Tag(TextTask):
    """Words and their tags."""

    name = signature = "tag"
    fields = {"text": True}
    cuts = False

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
        """Returns one text, also of words."""
        if "words" in request:
            return [" ".join(request["words"])]
        return super().texts_of(request)

    def signature_of(self, request: Request) -> str:
        """Returns another signature for lists of words."""
        return "tag_words" if "words" in request else "tag"

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"words", "tags"}, of a text also "spans" and "entities"."""
        count = row["num_words"]
        words = to_texts(row["words"][:count])
        tags = to_texts(row["tags"][:count])
        answer: Reply = {"words": words, "tags": tags}
        if "text" in request:
            text = request["text"]
            spans, entities, end = [], [], 0
            for word in words:
                start = text.index(word, end)
                end = start + len(word)
                spans.append([start, end])
            for entity_type, first, last in scoring.find_entities(tags):
                start, end = spans[first][0], spans[last - 1][1]
                entity = {"type": entity_type, "text": text[start:end]}
                entities.append(entity | {"start": start, "end": end})
            answer |= {"spans": spans, "entities": entities}
        return answer


class Embed(TextTask):
    """The vectors of a text, pooled and mean, and those of its WordPieces."""

    name = signature = "embed"
    fields = {"text": True}

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"pooled", "mean"}, and "tokens" and "sequence" if asked."""
        sequence = row["sequence_output"][: row["lengths"]]
        # Over all WordPieces including [CLS] and [SEP], as in sentence models.
        vectors = {"pooled": row["pooled_output"], "mean": sequence.mean(0)}
        answer: Reply = {k: [*map(to_number, v)] for k, v in vectors.items()}
        if self.options.tokens:
            answer["tokens"] = to_texts(row["tokens"][: row["lengths"]])
            answer["sequence"] = [[*map(to_number, v)] for v in sequence]
        return answer


class Tokenize(_PairTask):
    """The WordPieces that the model reads of a text or a pair."""

    name = signature = "tokenize"
    cuts = False

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"tokens", "num_wordpieces"}; the number is of all, uncut."""
        return {
            "tokens": to_texts(row["tokens"][: row["lengths"]]),
            "num_wordpieces": int(row["num_wordpieces"]),
        }


class Attention(_PairTask):
    """Attention weights between the WordPieces of a text or a pair."""

    name = signature = "attention"

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"tokens", "attention"}: by block, head, from and to."""
        count = row["lengths"]
        probs = row["attention_probs"][:, :, :count, :count]
        most = self.options.max_values
        if most is not None and probs.size > most:
            raise TooLarge(
                f"the attention of {count} WordPieces holds {probs.size} "
                f"values, more than {most}; send a shorter text"
            )
        if not np.isfinite(probs).all():
            raise ValueError("the model gives weights that are not finite")
        return {
            "tokens": to_texts(row["tokens"][:count]),
            "attention": np.round(probs.astype(np.float64), 6).tolist(),
        }


# In the order in which a model's default task is chosen.
TASKS: tuple[type[TextTask], ...] = (
    *(FillMask, NextSentence, Classify, Answer),
    *(Tag, Embed, Tokenize, Attention),
)
