"""Base class of exported models' tasks: checks requests, calls the model."""

import abc
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

Request = dict[str, Any]
# One row for each request.
Outputs = Mapping[str, np.ndarray]
# An answer, or the error of a request that has none.
Reply = dict[str, Any] | ValueError

# Raised when the model fails on a request, mostly for lack of memory.
_MODEL_ERRORS = (tf.errors.OpError, MemoryError)


@dataclasses.dataclass(frozen=True)
class TaskOptions:
    """Options that limit or extend answers.

    Attributes:
        top_k: WordPieces for each mask, up to the number that the export
            returns.
        tokens: whether to return each WordPiece's vector too.
        n_best: answers given to a question.
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
        model: the loaded SavedModel.
        options: TaskOptions.
    """

    #: As --task names it.
    name: str
    #: The signature that it needs.
    signature: str
    #: Fields of a request, and whether each must be there.
    fields: dict[str, bool] = {}

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
        """Returns the texts that the model reads of a request, checked."""
        return [request[field] for field in self.fields if field in request]

    def answer(self, requests: Sequence[Request]) -> list[Reply]:
        """Returns the answer to each request, or its error.

        If the model fails on them together, they are tried one by one.
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


def check_text(field: str, value: Any) -> None:
    """Checks that a field of a request is text.

    Raises:
        ValueError: it is not valid text.
    """
    if not isinstance(value, str):
        raise ValueError(
            f"{field!r} must be a text. Received: {repr(value)[:80]}"
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Bytes that are not UTF-8 are read as lone surrogates.
        if "\udc80" <= value[error.start] <= "\udcff":
            raise ValueError(f"{field!r} is not UTF-8") from None
        raise ValueError(
            f"{field!r} holds half of a surrogate pair, which is no character"
        ) from None


def listed(names: Iterable[str]) -> str:
    """Returns names, sorted, as a message lists them."""
    return ", ".join(sorted(names))


def to_text(value: bytes) -> str:
    """Returns a text of a model's outputs."""
    return value.decode("utf-8")


def to_number(value: float) -> float:
    """Returns a float of 6 significant digits.

    Raises:
        ValueError: JSON cannot represent it.
    """
    if not np.isfinite(value):
        raise ValueError(
            f"the model gives {value}, which is not a finite number; its "
            "weights or its precision must be wrong"
        )
    return float(f"{value:.6g}")
