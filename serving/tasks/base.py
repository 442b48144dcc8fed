"""Base class of the tasks of exported models: texts in, plain Python out.

Texts become ids, and outputs answers, by the tokenizer, windows and decoders
that training uses.
"""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from serving.engines import Input
from serving.requests import DEFAULTS, TaskOptions, check_text

Request = dict[str, Any]
Outputs = dict[str, np.ndarray]
Reply = dict[str, Any]


class Encoded(NamedTuple):
    """A request as the network reads it.

    Attributes:
        inputs: of the network; several for a long text.
        tokens: the WordPieces of the first one.
        num_cut: WordPieces that are not read.
        state: what a task needs to decode the outputs.
    """

    inputs: Sequence[Input]
    tokens: list[str]
    num_cut: int = 0
    state: Any = None


class Row(NamedTuple):
    """A request with the outputs for it, as `TextTask.keep` returned them."""

    encoded: Encoded
    outputs: list[Any]


class TextTask(abc.ABC):
    """A task of an exported model.

    Args:
        model: a models.TextModel.
        options: TaskOptions.
    """

    #: As --task names it.
    name: str
    #: Fields of a request, and whether each must be there.
    fields: dict[str, bool] = {}
    #: Other names under which `check` accepts a field.
    other_names: dict[str, list[str]] = {}
    #: Whether all inputs are padded to the model's length.
    pads = False
    #: Whether the network predicts the whole vocabulary at each WordPiece.
    predicts_words = False
    #: Whether the network may read far more than a request's texts.
    repeats = False
    #: Fields that are lists of texts.
    lists: Sequence[str] = ()
    #: {signature of an export: {its input: the field of a request}}
    signatures: dict[str, dict[str, str]] = {}

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        self.model = model
        self.options = options

    @classmethod
    def supports(cls, settings: Mapping[str, Any]) -> bool:
        """Returns whether a model whose head has these settings can do it."""
        return True

    def check(self, request: Request) -> None:
        """Checks a request.

        Raises:
            ValueError: a field is missing or is not text.
        """
        for field, is_needed in self.fields.items():
            if field not in request and is_needed:
                raise ValueError(
                    f"no {field!r}; {self.name} takes "
                    f"{', '.join(sorted(self.fields))}"
                )
            check_text(field, request.get(field, ""))

    def texts_of(self, request: Request) -> list[str]:
        """Returns the text of each field, checked; "" for none."""
        return [request.get(field, "") for field in self.fields]

    def answer(self, requests: Sequence[Request]) -> list[Reply]:
        """Returns the answer to each request.

        Raises:
            ValueError: one of them has no answer.
        """
        answers: list[Reply] = []
        for request, row in zip(requests, self.compute(requests), strict=True):
            try:
                answers.append(self.reply(request, row))
            except ValueError as error:
                if len(requests) == 1:
                    raise
                number = len(answers) + 1
                raise ValueError(f"text {number}: {error}") from None
        return answers

    def compute(self, requests: Sequence[Request]) -> list[Row]:
        """Returns what `reply` decodes, for each request.

        Raises:
            ValueError: the model fails on them.
        """
        return self.model.compute(
            self, [self.encode(each) for each in requests]
        )

    def reply(self, request: Request, row: Row) -> Reply:
        """Returns `read`'s answer, with "num_wordpieces_cut" if not 0.

        That is the least number, for a text of which only a part is read.
        """
        answer, count = self.read(request, row), row.encoded.num_cut
        return answer | ({"num_wordpieces_cut": count} if count else {})

    def encode(self, request: Request) -> Encoded:
        """Returns the inputs for a request: its one or two texts, packed."""
        most = self.model.max_seq_length
        texts = [
            self.model.tokenizer.tokenize_beginning(text, most)
            for text in [*self.texts_of(request), ""][:2]
        ]
        return self.pack(*texts)

    def pack(self, tokens_a: list[str], tokens_b: list[str]) -> Encoded:
        """Packs the WordPieces of one or two texts. See `PackingLayer`."""
        is_pair = bool(tokens_b)
        room = self.model.max_seq_length - 2 - is_pair
        count = len(tokens_a) + len(tokens_b)
        # The longer one is cut first; the second in a tie.
        tokens_a = tokens_a[: room - min(len(tokens_b), room // 2)]
        tokens_b = tokens_b[: room - len(tokens_a)]
        tokens = ["[CLS]", *tokens_a, "[SEP]"]
        first_length = len(tokens)
        if is_pair:
            tokens += [*tokens_b, "[SEP]"]
        ids = self.model.tokenizer.convert_tokens_to_ids(tokens)
        num_cut = max(count - room, 0)
        return Encoded([Input(ids, first_length)], tokens, num_cut)

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns what `read` needs of the outputs for one input."""
        return outputs

    @abc.abstractmethod
    def read(self, request: Request, row: Row) -> Reply:
        """Returns the answer in the outputs for a request.

        Raises:
            ValueError: there is none.
        """

    @abc.abstractmethod
    def read_arrays(self, request: Request, row: Row) -> Outputs:
        """Returns a row of what the task's signatures return.

        The signatures are described where they are exported (serving/*.py).
        """


class PairTask(TextTask):
    """A task over a text, or a pair of them."""

    fields = {"text_a": True, "text_b": False}
    other_names = {"text_a": ["text"]}

    def check(self, request: Request) -> None:
        """Also accepts `text` for `text_a`."""
        if "text" in request:
            if "text_a" in request:
                raise ValueError("'text' and 'text_a' are the same; use one")
            request["text_a"] = request.pop("text")
        super().check(request)
