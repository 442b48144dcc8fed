"""A text task: the fields of its requests, and its functions.

A text task is what an export does with texts, such as "classify". A
`FineTuningTask` of training/task.py is what a model learns. Text tasks use the
same tokenizer, windows and decoders as the training scripts.

Each text task has a TypedDict of its requests, such as `PairRequest`.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from options.fields import option
from serving.engines import NetworkInput, OutputArrays
from serving.text_tasks.loaded_export import LoadedExport
from serving.text_tasks.request_fields import (
    CheckedRequest,
    Request,
    RequestError,
    RequestField,
    RequestList,
    texts_in_field,
)

# A reply in plain Python, {name of a field: value}.
Reply: TypeAlias = dict[str, object]
# What a text task must know of the head of a model, see loaded_export.py.
HeadT = TypeVar("HeadT")
HeadT_contra = TypeVar("HeadT_contra", contravariant=True)
# The decoding context of a request: what decoding must know of it, such as the
# words of a text to tag. A record has one too, see training/task.py.
ContextT = TypeVar("ContextT")
ContextT_contra = TypeVar("ContextT_contra", contravariant=True)
# The TypedDict of a text task's requests, whose texts are checked.
RequestT = TypeVar("RequestT", bound=CheckedRequest)
RequestT_contra = TypeVar(
    "RequestT_contra", bound=CheckedRequest, contravariant=True
)
# The TypedDict of a text task's reply, as its caller gets it.
ReplyT = TypeVar("ReplyT", bound=Mapping[str, object])
ReplyT_co = TypeVar("ReplyT_co", bound=Mapping[str, object], covariant=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplyOptions:
    """Options that change the contents of replies.

    The methods of `TextModel` have them as arguments, and predict.py as flags.
    """

    top_k: int = option(
        5, "fill-mask: number of WordPieces to return per [MASK].", at_least=1
    )
    min_probability: float = option(
        0.0,
        'classify: write "label": null if no label is at least this probable.',
        at_least=0.0,
        at_most=1.0,
    )
    n_best: int = option(
        1, "answer: maximum number of answers per question.", at_least=1
    )
    # Named as the argument of `TextModel.embed` and the flag --tokens.
    tokens: bool = option(
        False, "embed: also write each WordPiece and its vector."
    )


DEFAULT_REPLY_OPTIONS = ReplyOptions()


class EncodedRequest(NamedTuple, Generic[ContextT]):
    """A request as the network reads it.

    Attributes:
        inputs: the inputs of the network, several for a long text.
        decoding_context: what `TextTask.decode` must know of the request.
            It may be None.
    """

    inputs: list[NetworkInput]
    decoding_context: ContextT


class EncodeRequest(Protocol[HeadT_contra, RequestT_contra, ContextT]):
    """Encodes a request."""

    def __call__(
        self,
        loaded_export: LoadedExport[HeadT_contra],
        request: RequestT_contra,
        /,
    ) -> EncodedRequest[ContextT]:
        """Returns a request as the network reads it.

        Args:
            loaded_export: the model that gets the request.
            request: request to encode, a TypedDict in the text task's file.

        Raises:
            RequestError: the request is wrong.
        """


class DecodeReply(Protocol[HeadT_contra, ContextT_contra, ReplyT_co]):
    """Decodes the outputs of the network for a request."""

    def __call__(
        self,
        loaded_export: LoadedExport[HeadT_contra],
        decoding_context: ContextT_contra,
        outputs: list[OutputArrays],
        reply_options: ReplyOptions,
        /,
    ) -> ReplyT_co:
        """Returns the reply to a request, a TypedDict in the text task's file.

        The reply is plain Python. `ask` in asking.py rounds its numbers.

        Args:
            loaded_export: the model that gets the request.
            decoding_context: what `encode` returned beside the inputs.
            outputs: {name: array} for each input of the request.
            reply_options: options that change the reply.

        Raises:
            RequestError: the request can get no reply.
        """


class CheckFields(Protocol):
    """Checks whether the fields of a request go together."""

    def __call__(self, request: Request, /) -> None:
        """Raises a RequestError if the fields do not go together."""


@dataclasses.dataclass(frozen=True)
class TextTask(Generic[HeadT, RequestT, ContextT, ReplyT_co]):
    """A task that an exported model does with texts, such as "classify".

    `ask` in asking.py gets requests, which may be unchecked JSON. For each
    request, it calls `parse_request`, `encode`, the network and
    `decode`. It returns the reply, or a `Failure` with the RequestError or the
    EngineError that one of these steps raised.

    Attributes:
        name: name of the text task, for --task.
        encode: function that encodes a request.
        decode: function that decodes the outputs of the network.
        fields: fields of a request, in the order of texts on a command line.
        predicts_words: whether the network outputs a value for each entry of
            the vocabulary at each position.
        reads_all: whether all of a long text is read, and not only as much as
            fits the model's maximum length.
        parse_head: function that parses the settings of the head to what
            `encode` and `decode` read of it, None if they read nothing.
        required_settings: names of the settings of the head without which the
            text task cannot reply.
        check_fields: function that checks whether the fields of a request go
            together, or None.
    """

    name: str
    encode: EncodeRequest[HeadT, RequestT, ContextT]
    decode: DecodeReply[HeadT, ContextT, ReplyT_co]
    fields: Sequence[RequestField]
    predicts_words: bool = False
    reads_all: bool = False
    # Any, because each function accepts only the settings of its kind of head.
    parse_head: Callable[[Any], HeadT] | None = None
    required_settings: Sequence[str] = ()
    check_fields: CheckFields | None = None

    @property
    def field_names(self) -> list[str]:
        """Names of the fields, in the order of `fields`."""
        return [field.name for field in self.fields]

    @property
    def text_names(self) -> list[str]:
        """All names under which a request may contain a text, or texts."""
        return [name for field in self.fields for name in field.names]

    def split_request(self, request: Request) -> RequestList:
        """Splits a request whose fields contain lists of texts.

        A single text beside a list is used for each text of the list.

        Raises:
            RequestError: two lists are not of the same length.
        """
        single_text_names = [
            name
            for field in self.fields
            for name in field.names
            if not field.is_list_as(name)
        ]
        lists = {
            name: texts
            for name in sorted(single_text_names)
            if isinstance(texts := request.get(name), list)
        }
        counts = {len(texts) for texts in lists.values()}
        if len(counts) > 1:
            raise RequestError(
                f"{', '.join(lists)} must be lists of equal length"
            )
        requests = [
            request | {name: texts[index] for name, texts in lists.items()}
            for index in range(max(counts, default=1))
        ]
        return RequestList(requests, bool(lists))

    def parse_request(self, request: object) -> RequestT:
        """Returns the fields of a request, whose texts are checked now.

        Args:
            request: a value of unchecked JSON. Entries that are no field of the
                text task are dropped.

        Raises:
            RequestError: a field is missing or is not text, or fields do not go
                together, by `check_fields`.
        """
        if not isinstance(request, dict):
            raise RequestError(f"{repr(request)[:80]} is not a JSON object")
        if self.check_fields:
            self.check_fields(request)
        checked: dict[str, object] = {}
        for field in self.fields:
            sent_names = [name for name in field.names if name in request]
            if field.is_required and not sent_names:
                raise RequestError(
                    f"{' or '.join(map(repr, field.names))} is missing; the "
                    f"fields of {self.name} are "
                    f"{', '.join(sorted(self.field_names))}"
                )
            for name in sent_names:
                field.check_texts(name, request[name])
                checked[name] = request[name]
        # A test in tests/serving/text_tasks/test_text_task.py compares the
        # fields with the entries of the TypedDict.
        return cast(RequestT, checked)

    def texts_of(self, request: CheckedRequest) -> list[str]:
        """Returns all texts of a request, in the order of its fields."""
        return [
            text
            for name in self.text_names
            for text in texts_in_field(request, name)
        ]

    def has_text(self, request: CheckedRequest) -> bool:
        """Returns whether the texts of a request are more than blanks."""
        return any(text.strip() for text in self.texts_of(request))


# A text task of any head, request, context and reply. Any, because only the
# functions of the text task know them.
AnyTextTask: TypeAlias = TextTask[Any, Any, Any, Mapping[str, object]]
