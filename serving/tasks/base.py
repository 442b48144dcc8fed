"""Defines the tasks of a model, and functions that several tasks use.

The tasks use the same tokenizer, windows and decoders as the training scripts.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from data.text.token_windows import pack_tokens
from data.text.tokenization import FullTokenizer
from files.flags import flag
from serving.engines import Input

# Minimum number of values that NumPy rounds faster than Python.
_MANY = 64
_POWERS = np.array([float(f"1e{n}") for n in range(309)])
# The token that marks a gap in a text for the task fill-mask.
MASK = "[MASK]"


Request = dict[str, Any]
Outputs = dict[str, np.ndarray]
Reply = dict[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Flags of predict.py that change the contents of replies."""

    top_k: int = flag(
        5, "fill-mask: number of WordPieces to return per [MASK].", at_least=1
    )
    min_probability: float = flag(
        0.0,
        'classify: write "label": null if no label is at least this probable.',
        at_least=0.0,
        at_most=1.0,
    )
    n_best: int = flag(
        1, "answer: maximum number of answers per question.", at_least=1
    )
    tokens: bool = flag(
        False, "embed: also write each WordPiece and its vector."
    )


DEFAULTS = TaskOptions()


class Model(Protocol):
    """The part of a `serving.TextModel` that tasks use."""

    tokenizer: FullTokenizer
    max_seq_length: int
    settings: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class TextTask:
    """A task of an exported model, such as classification.

    The model computes what stands between the two functions (`TextModel.ask`).

    Attributes:
        name: name of the task, for --task.
        encode: function (model, request) -> (inputs, context). `inputs` are the
            inputs of the network, several for a long text. `context` is all
            that `decode` needs to know of the request.
        decode: function (model, context, outputs, options) -> reply. `outputs`
            contains {name: array} for each input. Raises a ValueError if the
            request cannot be answered.
        fields: {field of a request: whether the field is required}.
        other_names: {field: other names under which a request may contain it}.
        lists: fields that are lists of texts. Another field's text is read once
            for each of them, so a short request may take long to compute.
        check_more: function (request) that raises a ValueError for requests
            that `check` cannot reject.
        predicts_words: whether the network outputs a value for each entry of
            the vocabulary at each position.
    """

    name: str
    encode: Callable[[Model, Request], tuple[list[Input], Any]]
    decode: Callable[[Model, Any, list[Outputs], TaskOptions], Reply]
    fields: Mapping[str, bool]
    other_names: Mapping[str, list[str]] = dataclasses.field(
        default_factory=dict
    )
    lists: Sequence[str] = ()
    check_more: Callable[[Request], None] = lambda request: None
    predicts_words: bool = False

    def has_no_text(self, request: Request) -> bool:
        """Returns whether all texts of a request are empty or white space."""
        texts = {*self.fields}.union(*self.other_names.values())
        found = [request[name] for name in texts & request.keys()]
        return bool(found) and not any(
            not isinstance(text, str) or text.strip() for text in found
        )

    def check(self, request: Request) -> None:
        """Checks a request, after renaming its field `text` to `text_a`.

        Raises:
            ValueError: a field is missing or is not text, or the request is a
                pair but the model was trained on single texts.
        """
        if not isinstance(request, dict):
            raise ValueError(
                "a request must be a JSON object. "
                f"Received: {repr(request)[:80]}"
            )
        is_of_pairs = "text_a" in self.fields
        if is_of_pairs and "text" in request:
            if "text_a" in request:
                raise ValueError(
                    "'text' and 'text_a' are the same field; use only one"
                )
            request["text_a"] = request.pop("text")
        for field, is_needed in self.fields.items():
            names = {field, *self.other_names.get(field, ())}
            if is_needed and not names & request.keys():
                raise ValueError(
                    f"{field!r} is missing; the fields of {self.name} are "
                    f"{', '.join(sorted(self.fields))}"
                )
            if field in self.lists:
                check_list(field, request[field])
            elif field in request:
                check_text(field, request[field])
        if is_of_pairs and "text_b" not in self.fields:
            if request.get("text_b"):
                raise ValueError(
                    "this model was trained on single texts, so it accepts no "
                    "'text_b'. Send each text by itself"
                )
        self.check_more(request)


def encode_texts(model: Model, request: Request) -> tuple[list[Input], Input]:
    """Packs the text of a request, or its two texts, into one input.

    Returns the input in a list, and as the context for `decode`.
    """
    texts = [request.get("text_a", ""), request.get("text_b", "")]
    if "text" in request:
        texts = [request["text"]]
    most, cut = model.max_seq_length, model.tokenizer.tokenize_beginning
    packed = pack(model, *(cut(text, most) for text in texts))
    return [packed], packed


def pack(
    model: Model, tokens_a: list[str], tokens_b: Sequence[str] = ()
) -> Input:
    """Packs the WordPieces of one or two texts into one input."""
    most = model.max_seq_length
    tokens, first_length, num_cut = pack_tokens(tokens_a, tokens_b, most)
    ids = model.tokenizer.convert_tokens_to_ids(tokens)
    return Input(ids, first_length, num_cut)


def check_list(field: str, values: Any) -> None:
    """Raises a ValueError if a field of a request is not a list of texts."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ValueError(
            f"{field!r} must be a list of strings. "
            f"Received: {repr(values)[:80]}"
        )
    for value in values:
        check_text(field, value)


def check_text(field: str, value: Any) -> None:
    """Checks that a field of a request is text.

    Raises:
        ValueError: the field is not valid text.
    """
    if not isinstance(value, str):
        raise ValueError(
            f"{field!r} must be a string. Received: {repr(value)[:80]}"
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Also bytes of a file that are not UTF-8 are decoded to surrogates.
        raise ValueError(f"{field!r} is not UTF-8: {error.reason}") from None


def to_number(value: float) -> float:
    """Rounds a number to 6 significant digits, for JSON."""
    return to_numbers([value])[0]


def to_numbers(values: Sequence[float] | np.ndarray) -> list[float]:
    """Rounds numbers to 6 significant digits, for JSON.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    # Check all numbers at once, because checking each one in Python is slow.
    numbers = np.asarray(values)
    is_finite = np.isfinite(numbers)
    if not is_finite.all():
        raise ValueError(
            f"the model returned {numbers[~is_finite][0]}, which is not a "
            "finite number; check the model's weights and precision"
        )
    if numbers.size < _MANY:
        return [float(f"{number:.6g}") for number in numbers.tolist()]
    # Round with NumPy: divide an integer of 6 digits by a power of ten.
    numbers = numbers.astype(np.float64)
    size = np.abs(numbers)
    exponents = np.floor(np.log10(size, where=size > 0, out=size))
    digits = 5 - exponents.astype(int)
    up, down = (_POWERS[np.clip(each, 0, 308)] for each in (digits, -digits))
    return (np.round(numbers * up / down) / up * down).tolist()
