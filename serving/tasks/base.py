"""Defines the class of all tasks, and the tasks that read texts whole.

The tasks use the same tokenizer, windows and decoders as the training scripts.
"""

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from data.classification.decoding import pool, to_probabilities
from data.text.token_windows import cut_spans, pack_tokens
from data.text.tokenization import FullTokenizer
from files.flags import flag
from serving.engines import Engine, Input, Outputs

# The token that marks a gap in a text for the task fill-mask.
MASK = "[MASK]"


Request = dict[str, Any]
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

    engine: Engine
    tokenizer: FullTokenizer
    max_seq_length: int
    pads: bool
    settings: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class TextTask:
    """A task of an exported model, such as classification.

    `ask` calls `encode`, then the network, then `decode`.

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

    def ask(
        self,
        model: Model,
        requests: Sequence[Request],
        options: TaskOptions = DEFAULTS,
    ) -> list[Reply | ValueError]:
        """Checks and answers requests.

        Returns:
            a reply to each request, {} if its texts are empty, or a ValueError
            if the request is wrong or the network fails on it.
        """
        replies: list[Any] = [{} for _ in requests]
        inputs: dict[int, list[Input]] = {}
        contexts: dict[int, Any] = {}
        for i, request in enumerate(requests):
            try:
                self.check(request)
                found, contexts[i] = self.encode(model, request)
                # The network would guess an answer to an empty text.
                if not (found and _is_empty(request)):
                    inputs[i] = found
            except ValueError as error:
                replies[i] = error
        most = len(model.tokenizer.tokens) if self.predicts_words else 1
        try:
            for i, outputs in model.engine.run_all(
                inputs, model.max_seq_length, model.pads, most
            ):
                try:
                    reply = self.decode(model, contexts[i], outputs, options)
                    if cut := max((x.num_cut for x in inputs[i]), default=0):
                        reply["num_wordpieces_cut"] = cut
                    replies[i] = reply
                except ValueError as error:
                    replies[i] = error
        except ValueError as error:
            # The network failed. Find out on which of the requests.
            many = requests if len(requests) > 1 else ()
            asked = [self.ask(model, [each], options)[0] for each in many]
            return asked or [error]
        return replies

    def check(self, request: Request) -> None:
        """Checks a request.

        Raises:
            ValueError: a field is missing or is not text, or the request is a
                pair but the model was trained on single texts.
        """
        if not isinstance(request, dict):
            raise ValueError(
                "a request must be a JSON object. "
                f"Received: {repr(request)[:80]}"
            )
        if {"text", "text_a"} <= request.keys():
            raise ValueError(
                "'text' and 'text_a' are the same field; use only one"
            )
        for field, is_needed in self.fields.items():
            names = [*self.other_names.get(field, ()), field]
            if is_needed and request.keys().isdisjoint(names):
                raise ValueError(
                    f"{' or '.join(map(repr, names))} is missing; the fields "
                    f"of {self.name} are {', '.join(sorted(self.fields))}"
                )
            if field in self.lists:
                check_list(field, request[field])
        for name in {*self.fields, "text"} & request.keys() - {*self.lists}:
            check_text(name, request[name])
        if self.fields.keys() == {"text_a"} and request.get("text_b"):
            raise ValueError(
                "this model was trained on single texts, so it accepts no "
                "'text_b'. Send each text by itself"
            )
        if not _is_empty(request):
            self.check_more(request)


def encode_texts(model: Model, request: Request) -> tuple[list[Input], Input]:
    """Packs the text of a request, or its two texts, into one input.

    Returns the input in a list, and as the context for `decode`.
    """
    most, cut = model.max_seq_length, model.tokenizer.tokenize_beginning
    packed = pack(model, *(cut(text, most) for text in _texts(request)))
    return [packed], packed


def _is_empty(request: Request) -> bool:
    names = {"text", "text_a", "text_b"} & request.keys()
    return bool(names) and not any(request[name].strip() for name in names)


def _texts(request: Request) -> tuple[str, str]:
    name = "text" if "text" in request else "text_a"
    return request[name], request.get("text_b", "")


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
    return [float(f"{number:.6g}") for number in numbers.tolist()]


def _encode(model: Model, request: Request) -> tuple[list[Input], Any]:
    stride = model.settings.get("doc_stride", 0)
    if not stride:
        return encode_texts(model, request)
    tokens = model.tokenizer.tokenize(_texts(request)[0])
    # Also create a window for a text without WordPieces, because every request
    # must get a prediction.
    spans = cut_spans(max(len(tokens), 1), model.max_seq_length - 2, stride)
    return [pack(model, tokens[i : i + length]) for i, length in spans], None


def _pool(model: Model, outputs: list[Outputs]) -> np.ndarray:
    # Models that read a text in windows output logits, which are averaged.
    ((name, first),) = outputs[0].items()
    if name == "probabilities":
        return first
    mode = model.settings["output_mode"]
    every = np.stack([np.atleast_1d(each[name]) for each in outputs])
    pooled = pool(every, [0])[0]
    return to_probabilities(pooled, mode).astype(np.float32)


def _decode(
    model: Model, context: Any, outputs: list[Outputs], options: TaskOptions
) -> Reply:
    # In multi-label classification, "label" is a list. Otherwise it is None if
    # no probability reaches the option `min_probability`.
    probabilities, mode = _pool(model, outputs), model.settings["output_mode"]
    if mode == "regression":
        return {"value": to_number(probabilities[0])}
    labels, is_multilabel = model.settings["labels"], mode == "multilabel"
    if is_multilabel:
        is_chosen = probabilities > 0.5
    else:
        is_chosen = np.arange(len(labels)) == probabilities.argmax()
    is_chosen = is_chosen & (probabilities >= options.min_probability)
    chosen = [*itertools.compress(labels, is_chosen)]
    numbers = to_numbers(probabilities)
    return {
        "label": chosen if is_multilabel else (chosen or [None])[0],
        "probabilities": dict(zip(labels, numbers, strict=True)),
    }


CLASSIFY = TextTask(
    "classify",
    _encode,
    _decode,
    {"text_a": True, "text_b": False},
    other_names={"text_a": ["text"]},
)


def _decode_vectors(
    model: Model, packed: Input, outputs: list[Outputs], options: TaskOptions
) -> Reply:
    sequence = outputs[0]["sequence_output"][: len(packed.ids)]
    # The mean includes [CLS] and [SEP], as in sentence-transformers.
    mean = sequence.mean(0)
    length = max(float(np.linalg.norm(mean)), 1e-12)
    reply: Reply = {
        "pooled": to_numbers(outputs[0]["pooled_output"]),
        "mean": to_numbers(mean),
        "mean_normalized": to_numbers(mean / length),
    }
    if options.tokens:
        reply["tokens"] = model.tokenizer.convert_ids_to_tokens(packed.ids)
        reply["sequence"] = [*map(to_numbers, sequence)]
    return reply


EMBED = TextTask("embed", encode_texts, _decode_vectors, {"text": True})


def _encode_no_input(model: Model, request: Request) -> tuple[list, Reply]:
    tokens = [*map(model.tokenizer.tokenize, _texts(request))]
    read = model.tokenizer.convert_ids_to_tokens(pack(model, *tokens).ids)
    return [], {"tokens": read, "num_wordpieces": sum(map(len, tokens))}


TOKENIZE = TextTask(
    "tokenize",
    _encode_no_input,
    lambda model, reply, outputs, options: reply,
    CLASSIFY.fields,
    other_names=CLASSIFY.other_names,
)
