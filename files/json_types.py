"""Finds entries of a JSON object that do not have the types of a TypedDict."""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import (
    Any,
    Literal,
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
            int, float, str, None, Any, `Literal`, other TypedDicts, and lists,
            dicts and unions of these.

    Returns:
        the name, None if all entries are right. A required entry that is
        missing is malformed too. Entries of other names do not matter.
    """
    for name, hint in get_type_hints(typed_dict).items():
        is_needed = name in values or name in typed_dict.__required_keys__
        if is_needed and not _is_of_type(values.get(name), hint):
            return name
    return None


def _is_of_type(value: object, hint: Any) -> bool:  # noqa: ANN401  any type
    """Returns whether a value of JSON is of the type of an entry."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) is UnionType:
        return any(_is_of_type(value, part) for part in get_args(hint))
    if hint is Any:
        return True
    if is_typeddict(hint):
        return (
            isinstance(value, dict)
            and find_malformed_entry(value, hint) is None
        )
    if get_origin(hint) in (list, Sequence):
        (item_hint,) = get_args(hint)
        return isinstance(value, list) and all(
            _is_of_type(item, item_hint) for item in value
        )
    if get_origin(hint) in (dict, Mapping):
        _, value_hint = get_args(hint)
        return isinstance(value, dict) and all(
            _is_of_type(item, value_hint) for item in value.values()
        )
    if isinstance(value, bool):
        return False
    # JSON may write a float without a fraction.
    return isinstance(value, int | float if hint is float else hint)
