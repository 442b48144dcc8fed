"""Defines the base class of tasks, which answer requests with a model.

The tasks use the same tokenizer, windows and decoders as the training scripts.
"""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

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


@dataclasses.dataclass
class Row:
    """A request, its encoded inputs and, after `compute`, their outputs.

    Attributes:
        request: {field: value}, as `TextTask.check` left it.
        inputs: inputs of the network, several for a long text.
        tokens: WordPieces of the first input.
        num_cut: number of WordPieces beyond the model's maximum length.
        state: other data that the task needs to decode the outputs.
        outputs: for each input, the value that `TextTask.keep` returned.
            `TextModel.compute` sets it.
    """

    request: Request
    inputs: Sequence[Input]
    tokens: list[str]
    num_cut: int = 0
    state: Any = None
    outputs: list[Any] = dataclasses.field(default_factory=list)


class TextTask(abc.ABC):
    """A task of an exported model, such as classification.

    Args:
        model: models.TextModel that computes the replies.
        options: flags that change the replies.
    """

    #: Name of the task, for --task.
    name: str
    #: Fields of TaskOptions that the task uses.
    flags: Sequence[str] = ()
    #: {field of a request: whether the field is required}.
    fields: dict[str, bool] = {}
    #: {field: other names under which a request may contain the field}.
    other_names: dict[str, list[str]] = {}
    #: Whether all inputs are padded to the model's maximum length.
    pads = False
    #: Whether the network outputs a value for each entry of the vocabulary at
    #: each position.
    predicts_words = False
    #: Fields that are lists of texts. Another field's text is read once for
    #: each of them, so a short request may take long to compute.
    lists: Sequence[str] = ()

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        self.model = model
        self.options = options

    @classmethod
    def supports(cls, settings: Mapping[str, Any]) -> bool:
        """Returns whether a model supports the task.

        `settings` are the entries of `task` in the model's model.json.
        """
        return True

    def check(self, request: Request) -> None:
        """Checks a request.

        Raises:
            ValueError: a field is missing or is not text.
        """
        for field, is_needed in self.fields.items():
            if field not in request and is_needed:
                raise ValueError(
                    f"{field!r} is missing; the fields of {self.name} are "
                    f"{', '.join(sorted(self.fields))}"
                )
            check_text(field, request.get(field, ""))

    def texts_of(self, request: Request) -> list[str]:
        """Returns the text of each field, "" for a missing field."""
        return [request.get(field, "") for field in self.fields]

    def answer(self, requests: Sequence[Request]) -> list[Reply]:
        """Returns the reply to each request.

        Raises:
            ValueError: a request cannot be answered.
        """
        answers: list[Reply] = []
        for row in self.compute(requests):
            try:
                answers.append(self.reply(row))
            except ValueError as error:
                if len(requests) == 1:
                    raise
                number = len(answers) + 1
                raise ValueError(f"text {number}: {error}") from None
        return answers

    def compute(self, requests: Sequence[Request]) -> list[Row]:
        """Runs the model on requests. Returns a Row for each request.

        Pass a Row to `reply` to get the reply.

        Raises:
            ValueError: the model fails on the requests.
        """
        rows = [*map(self.encode, requests)]
        self.model.compute(self, rows)
        return rows

    def reply(self, row: Row) -> Reply:
        """Returns the reply of `read`, with "num_wordpieces_cut" if not 0.

        "num_wordpieces_cut" is a lower bound, because the end of a very long
        text is not tokenized.
        """
        answer, count = self.read(row), row.num_cut
        return answer | ({"num_wordpieces_cut": count} if count else {})

    def encode(self, request: Request) -> Row:
        """Packs the one or two texts of a request into one input."""
        most = self.model.max_seq_length
        texts = [
            self.model.tokenizer.tokenize_beginning(text, most)
            for text in self.texts_of(request)
        ]
        return self.pack(request, *texts)

    def pack(
        self,
        request: Request,
        tokens_a: list[str],
        tokens_b: Sequence[str] = (),
    ) -> Row:
        """Packs the WordPieces of one or two texts into one input.

        Cuts long texts in the same way as PackingLayer.
        """
        is_pair = bool(tokens_b)
        room = self.model.max_seq_length - 2 - is_pair
        count = len(tokens_a) + len(tokens_b)
        # Cut the longer text. If both texts are equally long, cut the second.
        tokens_a = tokens_a[: room - min(len(tokens_b), room // 2)]
        tokens_b = tokens_b[: room - len(tokens_a)]
        tokens = ["[CLS]", *tokens_a, "[SEP]"]
        first_length = len(tokens)
        if is_pair:
            tokens += [*tokens_b, "[SEP]"]
        ids = self.model.tokenizer.convert_tokens_to_ids(tokens)
        num_cut = max(count - room, 0)
        return Row(request, [Input(ids, first_length)], tokens, num_cut)

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Selects the outputs that `read` needs.

        Args:
            encoded: an input of the network.
            outputs: {name: array}, the network's outputs for this input.
        """
        return outputs

    @abc.abstractmethod
    def read(self, row: Row) -> Reply:
        """Decodes the outputs for a request into a reply.

        Raises:
            ValueError: the request cannot be answered.
        """


class PairTask(TextTask):
    """A task over one text or a pair of texts."""

    fields = {"text_a": True, "text_b": False}
    other_names = {"text_a": ["text"]}

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        super().__init__(model, options)
        if model.settings.get("num_texts") == 1:
            self.fields = {"text_a": True}

    def check(self, request: Request) -> None:
        """Checks a request, after renaming its field `text` to `text_a`.

        Raises:
            ValueError: a field is missing or is not text, or the request is a
                pair but the model was trained on single texts.
        """
        if "text" in request:
            if "text_a" in request:
                raise ValueError(
                    "'text' and 'text_a' are the same field; use only one"
                )
            request["text_a"] = request.pop("text")
        super().check(request)
        if "text_b" not in self.fields and request.get("text_b"):
            raise ValueError(
                "this model was trained on single texts, so it accepts no "
                "'text_b'. Send each text by itself"
            )


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
        # text_files.py decodes with "surrogateescape", which maps bytes that
        # are not UTF-8 to this range.
        if "\udc80" <= value[error.start] <= "\udcff":
            raise ValueError(f"{field!r} is not UTF-8. Send UTF-8") from None
        raise ValueError(
            f"{field!r} contains half of a surrogate pair, which is not a "
            "character"
        ) from None


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
