"""Defines the class of all tasks, and the replies of a task.

The tasks use the same tokenizer, windows and decoders as the training scripts.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import (
    Any,
    Generic,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
)

from absl import logging

from serving.engines import Input, OutputArrays
from serving.prepared_model import PreparedModel
from serving.serving_flags import DEFAULT_TASK_FLAGS, TaskFlags
from serving.tasks.plain_values import to_plain_value
from serving.tasks.request_fields import (
    LIST_NAMES,
    CheckedRequest,
    Field,
    Request,
    read_texts,
)

# The token that marks a gap in a text for the task fill-mask.
MASK = "[MASK]"

# A reply in plain Python, {name of a field: value}.
Reply: TypeAlias = dict[str, object]
# What a task needs to know of a request when it decodes the outputs.
ContextT = TypeVar("ContextT")
ContextT_contra = TypeVar("ContextT_contra", contravariant=True)
# The TypedDict of a task's reply, as its caller gets it.
ReplyT = TypeVar("ReplyT", bound=Mapping[str, object])
ReplyT_co = TypeVar("ReplyT_co", bound=Mapping[str, object], covariant=True)


class Encoded(NamedTuple, Generic[ContextT]):
    """A request as the network reads it.

    Attributes:
        inputs: the inputs of the network, several for a long text.
        context: all that `TextTask.decode` needs to know of the request.
    """

    inputs: list[Input]
    context: ContextT


class Encode(Protocol[ContextT]):
    """Encodes a request."""

    def __call__(
        self, model: PreparedModel, request: CheckedRequest, /
    ) -> Encoded[ContextT]:
        """Returns a request as the network reads it.

        Args:
            model: model that answers the request.
            request: request to encode.

        Raises:
            ValueError: the request is wrong.
        """


class Decode(Protocol[ContextT_contra, ReplyT_co]):
    """Decodes the outputs of the network for a request."""

    def __call__(
        self,
        model: PreparedModel,
        context: ContextT_contra,
        outputs: list[OutputArrays],
        task_flags: TaskFlags,
        /,
    ) -> ReplyT_co:
        """Returns the reply to a request, a TypedDict in the task's file.

        `TextTask` converts the numbers and arrays in it to plain Python: an
        array of the reply becomes the list that the TypedDict declares.

        Args:
            model: model that answers the request.
            context: context of the request, as it was encoded.
            outputs: {name: array} for each input of the request.
            task_flags: flags that change the reply.

        Raises:
            ValueError: the request cannot be answered.
        """


class CheckRequest(Protocol):
    """Checks whether the fields of a request go together."""

    def __call__(self, request: Request, /) -> None:
        """Raises a ValueError if they do not."""


class Failure(NamedTuple):
    """What a request that fails gets instead of a reply.

    Attributes:
        error: a ValueError if the request is wrong, an EngineError if the
            network fails on it, or another exception, which is a bug.
    """

    error: Exception


class NumberedReply(NamedTuple):
    """The reply to one of the requests of a call.

    Attributes:
        number: index of the request among the requests of a call.
        reply: reply to the request, {} if its texts are empty, or its failure.
    """

    number: int
    reply: Reply | Failure


@dataclasses.dataclass(frozen=True)
class TextTask(Generic[ContextT, ReplyT]):
    """A task of an exported model, such as classification.

    `ask` calls `encode`, then the network, then `decode`.

    These three raise their errors. `in_steps` catches them: the request gets a
    `Failure` in the place of its reply, and the other requests get theirs. An
    error of the network is an `EngineError`, which is a ValueError and has the
    runtime's error as its cause. `ask` raises every error that is no
    ValueError.

    Attributes:
        name: name of the task, for --task.
        encode: function that encodes a request.
        decode: function that decodes the outputs of the network.
        fields: fields of a request, in the order of texts on a command line.
        predicts_words: whether the network outputs a value for each entry of
            the vocabulary at each position.
        reads_all: whether all of a long text is read, and not only as much as
            fits the model's maximum length.
        required_settings: names of the settings of the head without which the
            task cannot answer.
        check: function that checks whether the fields of a request go
            together, or None.
    """

    name: str
    encode: Encode[ContextT]
    decode: Decode[ContextT, ReplyT]
    fields: Sequence[Field]
    predicts_words: bool = False
    reads_all: bool = False
    required_settings: Sequence[str] = ()
    check: CheckRequest | None = None

    def ask(
        self,
        model: PreparedModel,
        requests: Sequence[object],
        task_flags: TaskFlags = DEFAULT_TASK_FLAGS,
    ) -> list[Reply | Failure]:
        """Checks and answers requests, which may be unchecked JSON.

        Returns:
            a reply to each request, {} if its texts are empty, or its failure,
            whose error is a ValueError.
        """
        replies: list[Reply | Failure] = [{} for _ in requests]
        steps = self.in_steps(model, requests, task_flags)
        for number, reply in itertools.chain.from_iterable(steps):
            if isinstance(reply, Failure) and not isinstance(
                reply.error, ValueError
            ):
                raise reply.error
            replies[number] = reply
        return replies

    def in_steps(
        self,
        model: PreparedModel,
        requests: Sequence[object],
        task_flags: TaskFlags,
    ) -> Iterator[list[NumberedReply]]:
        """Answers requests as `ask` does, but in steps.

        Yields:
            after each step, the replies that it computed. A step encodes a
            request or runs a batch.
        """
        encoded: dict[int, Encoded[ContextT]] = {}
        for number, request in enumerate(requests):
            result = self._encode(model, request)
            if isinstance(result, Encoded):
                encoded[number] = result
                yield []
            else:
                yield [NumberedReply(number, result)]
        yield from self._answer_all(model, encoded, task_flags)

    def _answer_all(
        self,
        model: PreparedModel,
        encoded: Mapping[int, Encoded[ContextT]],
        task_flags: TaskFlags,
    ) -> Iterator[list[NumberedReply]]:
        """Yields the replies to requests after each batch.

        If the network fails on a batch, logs why, and runs it for each request
        that is not answered yet.
        """
        unanswered = {*encoded}
        try:
            for replies in self._answer_in_batches(model, encoded, task_flags):
                unanswered -= {reply.number for reply in replies}
                yield replies
        except ValueError as error:
            if len(encoded) == 1:
                failure = Failure(error)
                yield [NumberedReply(number, failure) for number in encoded]
                return
            logging.warning(
                "The network runs again for each of %d requests: %s",
                len(unanswered),
                error,
            )
            remaining = {
                number: encoded[number] for number in sorted(unanswered)
            }
            yield from self._answer_singly(model, remaining, task_flags)

    def _answer_singly(
        self,
        model: PreparedModel,
        encoded: Mapping[int, Encoded[ContextT]],
        task_flags: TaskFlags,
    ) -> Iterator[list[NumberedReply]]:
        """Runs the network for one request after the other.

        If it failed on a batch, the requests that it can answer get a reply,
        and only the others an error.
        """
        for number, request in encoded.items():
            try:
                yield from self._answer_in_batches(
                    model, {number: request}, task_flags
                )
            except ValueError as error:
                yield [NumberedReply(number, Failure(error))]

    def _encode(
        self, model: PreparedModel, request: object
    ) -> Encoded[ContextT] | Reply | Failure:
        """Returns an encoded request, {} for one without text, or a failure."""
        try:
            # The network would guess an answer to an empty text.
            if any(text.strip() for text in self.texts(request)):
                return self.encode(model, cast("CheckedRequest", request))
        except Exception as error:
            return Failure(error)
        return {}

    def _answer_in_batches(
        self,
        model: PreparedModel,
        encoded: Mapping[int, Encoded[ContextT]],
        task_flags: TaskFlags,
    ) -> Iterator[list[NumberedReply]]:
        """Runs the network, and yields the replies after each batch.

        Raises an EngineError if the network fails on a batch.
        """
        inputs = {number: request.inputs for number, request in encoded.items()}
        values_per_wordpiece = 1
        if self.predicts_words:
            values_per_wordpiece = len(model.tokenizer.tokens)
        batches = model.engine.run_all(
            inputs, model.max_seq_length, model.pads, values_per_wordpiece
        )
        for computed in batches:
            yield [
                NumberedReply(
                    number,
                    self._reply(model, encoded[number], outputs, task_flags),
                )
                for number, outputs in computed.items()
            ]

    def _reply(
        self,
        model: PreparedModel,
        encoded: Encoded[ContextT],
        outputs: list[OutputArrays],
        task_flags: TaskFlags,
    ) -> Reply | Failure:
        """Decodes the outputs of the network for a request."""
        try:
            decoded = self.decode(model, encoded.context, outputs, task_flags)
            reply = {
                name: to_plain_value(value) for name, value in decoded.items()
            }
        except Exception as error:
            return Failure(error)
        if cut := max((part.num_cut for part in encoded.inputs), default=0):
            reply["num_wordpieces_cut"] = cut
        return reply

    def count_texts(self, requests: Sequence[object]) -> int:
        """Returns the number of texts in requests, which may be unchecked.

        A pair counts as one. If a field contains a list of texts, the network
        reads the other fields once for each of them.
        """
        names = {*self.field_names} & {*LIST_NAMES}
        values = [
            request.get(name)
            for request in requests
            if isinstance(request, dict)
            for name in names
        ]
        counts = [len(texts) for texts in values if isinstance(texts, list)]
        return max(len(requests), sum(counts))

    def count_wordpieces(self, model: PreparedModel, request: object) -> int:
        """Returns the number of WordPieces of a request that the model reads.

        Raises:
            ValueError: as in `texts`.
        """
        tokenizer = model.tokenizer
        max_length = model.max_seq_length
        # Every word of a list is read, also if the tokenizer drops all of it.
        if self.reads_all:
            return sum(
                max(len(tokenizer.tokenize(text)), 1)
                for text in self.texts(request)
            )
        return sum(
            min(len(tokenizer.tokenize_beginning(text, max_length)), max_length)
            for text in self.texts(request)
        )

    @property
    def field_names(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in self.fields]

    @property
    def text_names(self) -> list[str]:
        """All names under which a request may contain a text, or texts."""
        return [name for field in self.fields for name in field.names]

    def texts(self, request: object) -> list[str]:
        """Checks a request, and returns all its texts.

        Raises:
            ValueError: a field is missing or is not text, or fields do not go
                together, by `check`.
        """
        if not isinstance(request, dict):
            raise ValueError(f"{repr(request)[:80]} is not a JSON object")
        if self.check:
            self.check(request)
        texts: list[str] = []
        for field in self.fields:
            sent_names = [name for name in field.names if name in request]
            if field.is_required and not sent_names:
                raise ValueError(
                    f"{' or '.join(map(repr, field.names))} is missing; the "
                    f"fields of {self.name} are "
                    f"{', '.join(sorted(self.field_names))}"
                )
            for name in sent_names:
                texts += read_texts(name, request[name])
        return texts


# A task of any context and reply, which only its own functions and the methods
# of `TaskMethods` know.
AnyTextTask: TypeAlias = TextTask[Any, Any]
