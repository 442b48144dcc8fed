"""Base class of exported models' tasks: texts in, plain Python out."""

import abc
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

Request = dict[str, Any]
# The outputs for one request, by name.
Row = Mapping[str, Any]
Reply = dict[str, Any]

# Raised when the model fails on a request, mostly for lack of memory.
_MODEL_ERRORS = (tf.errors.OpError, MemoryError)


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
        """Returns the text of each field, checked; "" for none."""
        return [request.get(field, "") for field in self.fields]

    def signature_of(self, request: Request) -> str:
        """Returns the signature that answers a request."""
        return self.signature

    def answer(self, requests: Sequence[Request]) -> list[Reply | ValueError]:
        """Returns the answer to each request, or the error that it causes.

        If the model fails on them together, they are tried one by one.
        """
        answers: list[Reply | ValueError] = []
        try:
            rows = self.compute(requests)
        except ValueError as error:
            if len(requests) == 1:
                return [error]
            for request in requests:
                answers += self.answer([request])
            return answers
        for request, row in zip(requests, rows, strict=True):
            try:
                answers.append(self.read(request, row))
            except ValueError as error:
                answers.append(error)
        return answers

    def compute(self, requests: Sequence[Request]) -> list[Row]:
        """Returns the model's outputs for each request.

        Raises:
            ValueError: the model fails on them.
        """
        groups: dict[str, list[int]] = {}
        for index, request in enumerate(requests):
            groups.setdefault(self.signature_of(request), []).append(index)
        rows: dict[int, Row] = {}
        try:
            for signature, indices in groups.items():
                outputs = self._call(signature, [requests[i] for i in indices])
                rows |= zip(indices, outputs, strict=True)
        except _MODEL_ERRORS as error:
            reason = " ".join(str(error).split())[:200] or "out of memory"
            raise ValueError(f"the model cannot take it: {reason}") from None
        return [rows[index] for index in range(len(requests))]

    def _call(self, signature: str, requests: Sequence[Request]) -> list[Row]:
        columns = zip(*map(self.texts_of, requests), strict=True)
        texts = {
            field: tf.constant(column, tf.string)
            for field, column in zip(self.fields, columns, strict=True)
        }
        outputs = self.model.signatures[signature](**texts)
        arrays = {name: value.numpy() for name, value in outputs.items()}
        return [
            {name: values[row] for name, values in arrays.items()}
            for row in range(len(requests))
        ]

    @abc.abstractmethod
    def read(self, request: Request, row: Row) -> Reply:
        """Returns the answer in the model's outputs for a request.

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


def to_texts(values: Iterable[bytes]) -> list[str]:
    """Returns texts of a model's outputs."""
    return [value.decode("utf-8") for value in values]


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
