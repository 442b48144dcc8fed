"""The fields of the requests to text tasks, and what is wrong with a request.

For example, the requests to `classify` have these fields:

    RequestField("text_a", aliases=("text",))
    RequestField("text_b", is_required=False)

`TextTask.parse_request` checks a request by the fields of its text task.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

# A request, {name of a field: value}, whose values may be wrong.
Request: TypeAlias = dict[str, object]
# A request from `TextTask.parse_request`: the fields of its text task, each of
# which is a text or a list of texts.
CheckedRequest: TypeAlias = Mapping[str, object]


class RequestError(ValueError):
    """A request is wrong, and its message says why.

    serve.py tells it to the client, who can do something about it. Any other
    error is one of the model, of the machine or of the code.
    """


class RequestList(NamedTuple):
    """The requests of one call.

    Attributes:
        requests: the requests, which may be unchecked.
        is_list: whether the caller asked for a list of replies, and not for the
            reply to the only request.
    """

    requests: Sequence[object]
    is_list: bool


@dataclasses.dataclass(frozen=True)
class RequestField:
    """A field of the requests to a text task: a text, or a list of texts.

    Attributes:
        name: name of the field.
        is_required: whether a request must contain the field.
        is_list: whether the field is a list of texts.
        aliases: other names under which a request may contain the field.
        list_alias: another name, under which a request contains the text as a
            list, such as the `words` of a `text`.
    """

    name: str
    is_required: bool = True
    is_list: bool = False
    aliases: tuple[str, ...] = ()
    list_alias: str | None = None

    @property
    def names(self) -> list[str]:
        """All names under which a request may contain the field."""
        names = [self.name, *self.aliases]
        return [*names, self.list_alias] if self.list_alias else names

    def is_list_as(self, name: str) -> bool:
        """Returns whether the field is a list under one of its names."""
        return self.is_list or name == self.list_alias

    def check_texts(self, name: str, value: object) -> None:
        """Checks the text, or the list of texts, in a request.

        Args:
            name: name under which the request contains the field.
            value: what the request contains.

        Raises:
            RequestError: the value is something else, or is not UTF-8.
        """
        if not self.is_list_as(name):
            _check_text(name, value, "a string")
            return
        expected = "a list of strings"
        if not isinstance(value, list | tuple):
            raise _type_error(name, value, expected)
        for text in value:
            _check_text(name, text, expected)


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
