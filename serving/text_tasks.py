"""The tasks of exported models: they check requests and read outputs."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from serving.requests import MASK

Request = dict[str, Any]
# Arrays by their names, a row for each request.
Outputs = Mapping[str, np.ndarray]
# One request's, or the reason that it has none.
Reply = dict[str, Any] | ValueError

# Raised when the model cannot take a request, mostly for lack of memory.
_MODEL_ERRORS = (tf.errors.OpError, MemoryError)


class TextTask(abc.ABC):
    """One thing that an exported model does.

    Args:
        model: the loaded SavedModel.
        top_k: WordPieces given for each mask.
        tokens: whether to embed each WordPiece too.
    """

    #: As --task names it.
    name: str
    #: The signature that it needs.
    signature: str
    #: Fields of a request, and whether each must be there.
    fields: dict[str, bool] = {}

    def __init__(
        self, model: Any, top_k: int = 5, tokens: bool = False
    ) -> None:
        self.model = model
        self.top_k = top_k
        self.tokens = tokens

    def check(self, request: Request) -> None:
        """Checks a request.

        Raises:
            ValueError: a field is missing or is no text.
        """
        for field, is_needed in self.fields.items():
            if field not in request and is_needed:
                raise ValueError(
                    f"no {field!r}; {self.name} takes {listed(self.fields)}"
                )
            _check_text(field, request.get(field, ""))

    def answer(self, requests: Sequence[Request]) -> list[Reply]:
        """Returns the answer to each request, or what is wrong with it.

        Requests that the model cannot take together are tried one by one.
        """
        answers: list[Reply] = []
        try:
            outputs = self.call_all(requests)
        except _MODEL_ERRORS as error:
            if len(requests) == 1:
                reason = " ".join(str(error).split())[:200] or "out of memory"
                return [ValueError(f"the model cannot take it: {reason}")]
            for request in requests:
                answers += self.answer([request])
            return answers
        for row, request in enumerate(requests):
            try:
                answers.append(self.read(request, outputs, row))
            except ValueError as error:
                answers.append(error)
        return answers

    def call_all(self, requests: Sequence[Request]) -> Outputs:
        """Returns the signature's outputs for requests, a row for each."""
        return self.call(
            self.signature,
            {
                field: [request.get(field, "") for request in requests]
                for field in self.fields
            },
        )

    def call(
        self, signature: str, inputs: Mapping[str, Sequence[str]]
    ) -> Outputs:
        """Returns a signature's outputs, arrays by name."""
        texts = {
            name: tf.constant(values, tf.string)
            for name, values in inputs.items()
        }
        outputs = self.model.signatures[signature](**texts)
        return {name: value.numpy() for name, value in outputs.items()}

    @abc.abstractmethod
    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """Returns the answer in one row of the outputs.

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
                    {"token": _text(token), "probability": _number(probability)}
                    for token, probability in zip(
                        outputs["tokens"][row, mask, : self.top_k],
                        outputs["probabilities"][row, mask, : self.top_k],
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
        return {"probability": _number(outputs["probability"][row])}


class Classify(TextTask):
    """The label of a text or a pair, several labels, or a number."""

    name = signature = "classify"
    fields = {"text_a": True, "text_b": False}

    def check(self, request: Request) -> None:
        """Also takes `text` as the name of `text_a`."""
        if "text" in request:
            if "text_a" in request:
                raise ValueError("'text' and 'text_a' are the same; give one")
            request["text_a"] = request.pop("text")
        super().check(request)

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        if "values" in outputs:
            return {"value": _number(outputs["values"][row])}
        label = outputs["label"][row]
        if isinstance(label, np.ndarray):
            label = [_text(one) for one in label if one]
        else:
            label = _text(label)
        labels = map(_text, outputs["labels"][row])
        probabilities = map(_number, outputs["probabilities"][row])
        return {
            "label": label,
            "probabilities": dict(zip(labels, probabilities, strict=True)),
        }


class Answer(TextTask):
    """The answer to a question in a passage."""

    name = signature = "answer"
    fields = {"question": True, "context": True}

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        return {
            "answer": _text(outputs["answer"][row]),
            "probability": _number(outputs["probability"][row]),
            "start_byte": int(outputs["start_byte"][row]),
            "end_byte": int(outputs["end_byte"][row]),
            "null_odds": _number(outputs["null_odds"][row]),
        }


class Tag(TextTask):
    """Words and their tags."""

    name = signature = "tag"
    fields = {"text": True}

    def check(self, request: Request) -> None:
        """Takes a list of `words` instead of a text, too."""
        if "words" not in request:
            super().check(request)
            return
        words = request["words"]
        if not isinstance(words, list):
            raise ValueError(
                f"'words' must be a list. Received: {repr(words)[:80]}"
            )
        for word in words:
            _check_text("words", word)
            if len(word.split()) != 1:
                raise ValueError(
                    "each of 'words' must be one word, without white space. "
                    f"Received: {repr(word)[:80]}"
                )

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
            texts = [" ".join(request["words"]) for request in requests]
            return self.call("tag_words", {"text": texts})
        return super().call_all(requests)

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        count = outputs["num_words"][row]
        return {
            "words": [_text(word) for word in outputs["words"][row, :count]],
            "tags": [_text(tag) for tag in outputs["tags"][row, :count]],
        }


class Embed(TextTask):
    """The vector of a text, and those of its WordPieces."""

    name = signature = "embed"
    fields = {"text": True}

    def read(
        self, request: Request, outputs: Outputs, row: int
    ) -> dict[str, Any]:
        """See TextTask."""
        pooled = [_number(value) for value in outputs["pooled_output"][row]]
        answer: dict[str, Any] = {"pooled": pooled}
        if self.tokens:
            count = outputs["lengths"][row]
            answer["tokens"] = [
                _text(token) for token in outputs["tokens"][row, :count]
            ]
            answer["sequence"] = [
                [_number(value) for value in vector]
                for vector in outputs["sequence_output"][row, :count]
            ]
        return answer


# In the order in which one of them is chosen for a model.
TASKS: tuple[type[TextTask], ...] = (
    FillMask,
    NextSentence,
    Classify,
    Answer,
    Tag,
    Embed,
)


def _check_text(field: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError(
            f"{field!r} must be a text. Received: {repr(value)[:80]}"
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Bytes that are not UTF-8 are read as these.
        if "\udc80" <= value[error.start] <= "\udcff":
            raise ValueError(f"{field!r} is not UTF-8") from None
        raise ValueError(
            f"{field!r} holds half of a surrogate pair, which is no character"
        ) from None


def listed(names: Iterable[str]) -> str:
    """Returns names, sorted, as a message lists them."""
    return ", ".join(sorted(names))


def _text(value: bytes) -> str:
    return value.decode("utf-8")


def _number(value: float) -> float:
    """Returns a float of 6 significant digits.

    Raises:
        ValueError: JSON has no form for it.
    """
    if not np.isfinite(value):
        raise ValueError(
            f"the model gives {value}, which is not a finite number; its "
            "weights or its precision must be wrong"
        )
    return float(f"{value:.6g}")
