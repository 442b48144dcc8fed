"""Compares JSON with the types of the entries in a TypedDict."""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)


def find_malformed_entry(
    values: Mapping[str, object], typed_dict: type[Any]
) -> str | None:
    """Returns the name of the first entry that does not have its type.

    Args:
        values: a JSON object.
        typed_dict: the TypedDict that the object should be. Its types may be
            bool, int, float, str, object, None, Any, `Literal`, other
            TypedDicts, and lists, tuples, dicts and unions of these. In JSON, a
            tuple is a list, of any length. `Annotated[int, range(1, 9)]` is a
            number of the range.

    Returns:
        the name, None if all entries are right. A required entry that is
        missing is malformed too. Entries of other names do not matter.
    """
    for name, hint in get_type_hints(typed_dict, include_extras=True).items():
        is_needed = name in values or name in typed_dict.__required_keys__
        if is_needed and not _is_of_type(values.get(name), hint):
            return name
    return None


def _is_of_type(value: object, hint: object) -> bool:
    """Returns whether a value of JSON is of the type of an entry."""
    origin = get_origin(hint)
    if hint in (Any, object):
        return True
    if origin is NotRequired:
        (hint,) = get_args(hint)
        return _is_of_type(value, hint)
    if origin is Literal:
        return value in get_args(hint)
    if origin in (Union, UnionType):
        return any(_is_of_type(value, part) for part in get_args(hint))
    if origin is Annotated:
        inner_hint, valid_values = get_args(hint)
        return _is_of_type(value, inner_hint) and value in valid_values
    if isinstance(hint, type) and is_typeddict(hint):
        return (
            isinstance(value, dict)
            and find_malformed_entry(value, hint) is None
        )
    if origin in (dict, Mapping):
        _, value_hint = get_args(hint)
        return isinstance(value, dict) and all(
            _is_of_type(item, value_hint) for item in value.values()
        )
    if origin is not None:
        return isinstance(value, list) and _are_items(value, hint)
    if isinstance(value, bool):
        return hint is bool
    plain_type = cast(type, hint)
    # JSON may write a float without a fraction.
    return isinstance(value, int | float if hint is float else plain_type)


def _are_items(values: Sequence[object], hint: object) -> bool:
    """Returns whether the items of a list are of the types in a hint.

    `hint` is the type of a list, a sequence or a tuple.
    """
    item_hints = get_args(hint)
    if get_origin(hint) is not tuple:
        item_hints *= len(values)
    return all(map(_is_of_type, values, item_hints))
