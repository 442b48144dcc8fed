"""Defines requests, their fields, and the texts in the fields.

For example, the requests to `classify` have these fields:

    Field("text_a", aliases=("text",))
    Field("text_b", is_required=False)
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypedDict, cast

# Names of fields that are lists of texts. The name of a field shows this, and
# not the Field, because a request to `tag` contains one field as `text` or as
# the list `words`.
LIST_FIELDS = ("words", "passages")

# A request, {name of a field: value}, whose values may be wrong.
Request: TypeAlias = dict[str, object]


class RequestError(ValueError):
    """A request is wrong, and its message says why.

    serve.py tells it to the client, who can do something about it. Any other
    error is one of the model, of the machine or of the code.
    """


class CheckedRequest(TypedDict, total=False):
    """A request whose texts `TextTask.parse_request` has checked.

    It contains the fields of its task. It may contain other entries, which no
    task reads.
    """

    text: str
    text_a: str
    text_b: str
    question: str
    context: str
    query: str
    passages: list[str]
    words: list[str]


class RequestList(NamedTuple):
    """The requests of one call.

    Attributes:
        requests: the requests, which may be unchecked.
        is_list: whether the caller asked for a list of replies, and not for the
            reply to the only request.
    """

    requests: Sequence[object]
    is_list: bool


class TextList(Protocol):
    """Several texts: a list, a tuple or another sequence, but not a str.

    A str is a sequence of str too. Type checkers tell it apart, because its
    `__contains__` accepts only a str.
    """

    def __contains__(self, value: object, /) -> bool:
        """Returns whether a text is in the list."""

    def __getitem__(self, index: int, /) -> str:
        """Returns the text at an index."""

    def __iter__(self) -> Iterator[str]:
        """Iterates over the texts."""


# A text or several.
Texts: TypeAlias = str | TextList


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of the requests to a task: a text, or a list of texts.

    Attributes:
        name: name of the field.
        is_required: whether a request must contain the field.
        aliases: other names under which a request may contain it.
    """

    name: str
    is_required: bool = True
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All names under which a request may contain the field."""
        return [self.name, *self.aliases]


def check_texts(name: str, value: object) -> None:
    """Checks the texts in a value of a request.

    Args:
        name: name under which the request contains the value.
        value: a text, or a list of texts if `name` is in LIST_FIELDS.

    Raises:
        RequestError: the value is something else, or is not UTF-8.
    """
    if name not in LIST_FIELDS:
        _check_text(name, value, "a string")
        return
    expected = "a list of strings"
    if not isinstance(value, list | tuple):
        raise _type_error(name, value, expected)
    for text in value:
        _check_text(name, text, expected)


def texts_in_field(request: CheckedRequest, name: str) -> Sequence[str]:
    """Returns the texts of a request under a name, [] if it has none."""
    entries = cast(Mapping[str, str | Sequence[str]], request)
    value = entries.get(name, [])
    return [value] if isinstance(value, str) else value


def describe_place(request_number: int, is_list: bool) -> str:
    """Returns the beginning of an error about one of the requests of a call.

    Args:
        request_number: number of the request, from 1.
        is_list: whether the call may have other requests.
    """
    return f"text {request_number}: " if is_list else ""


def _check_text(name: str, value: object, expected: str) -> None:
    if not isinstance(value, str):
        raise _type_error(name, value, expected)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Also bytes of a file that are not UTF-8 are decoded to surrogates.
        raise RequestError(f"{name!r} is not UTF-8: {error.reason}") from None


def _type_error(name: str, value: object, expected: str) -> RequestError:
    return RequestError(
        f"{name!r} must be {expected}. Received: {repr(value)[:80]}"
    )
