"""Reads the labels in a cell of a table.

A cell contains one label, several labels with a separator between them, or a
list in the notation of JSON, Python, NumPy, or brackets around names.
"""

import ast
import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from files.json_files import parse_json
from model_folders.labels import is_label, normal_label

# Pattern of a quoted text or a number in the notation of JSON, Python or NumPy.
_ITEM_PATTERN = r"""
    (?: [uUbB]? (?: "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
    | [-+]? (?: \d+ (?:\.\d*)? | \.\d+ ) (?: [eE] [-+]? \d+ )?
    | [Tt]rue | [Ff]alse )
"""
_RE_FLAGS = re.VERBOSE | re.DOTALL
_ITEM = re.compile(_ITEM_PATTERN, _RE_FLAGS)
# Matches what is between the brackets of a list of such items.
_ITEMS = re.compile(
    rf"""
        \s*
        (?: {_ITEM_PATTERN} (?: (?:\s*,\s*|\s+) {_ITEM_PATTERN} )*
            \s* ,? \s* )?
    """,
    _RE_FLAGS,
)
# Matches array(['a', 'b'], dtype=object) and set().
_CALL = re.compile(
    r"(?:(?:np|numpy)\.)?(?:array|frozenset|list|set|tuple)"
    r"\((.*?)(?:,\s*dtype=[^()]*)?\)",
    re.DOTALL,
)
# Matches a number as NumPy 2 shows it, such as np.int64(5).
_SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")
# Matches a 0 or 1 for each label, without brackets.
_VECTOR = re.compile(r"[01](?:\s+[01])+")
# {opening bracket: its closing one}.
_CLOSING_OF_OPENING = {"[": "]", "(": ")", "{": "}"}


def is_empty(cell: object) -> bool:
    """Returns whether a cell is null, NaN, or text without visible letters."""
    if isinstance(cell, str):
        return not normal_label(cell)
    return cell is None or cell != cell


def convert_label(value: object, place: str) -> str:
    """Converts a label of any type to text in its normal form.

    True is the same label as true, and 1.0 as 1.

    Args:
        value: the label, of any type.
        place: the place of the label, for the error.

    Raises:
        ValueError: the label is neither a number nor a line of text.
    """
    text = str(value).strip()
    if isinstance(value, str | int | float) and is_label(text):
        label = re.sub(r"^(-?\d+)\.0+$", r"\1", normal_label(text))
        if label.lower() in ("true", "false"):
            label = label.lower()
        if label:
            return label
    raise ValueError(
        f"{place}: a label must be a number, or a non-empty string without "
        f"line breaks. Received: {value!r}"
    )


def parse_label(
    cell: object, place: str, labels: Collection[str] = ()
) -> str | None:
    """Returns the label in a cell, None if the cell is empty.

    Args:
        cell: the cell. A list of one label stands for this label.
        place: the place of the cell, for the error.
        labels: labels of the task. A cell that equals one of them is this
            label, even if it looks like a list.

    Raises:
        ValueError: the cell contains several labels, or no label.
    """
    value = _unwrap_choices(cell, place)
    if is_empty(value):
        return None
    if isinstance(value, str):
        if normal_label(value) in labels:
            return normal_label(value)
        items = parse_list(value)
        value = value if items is None else items
    if not isinstance(value, list):
        return convert_label(value, place)
    if len(value) > 1:
        raise ValueError(
            f"{place}: the cell contains {len(value)} labels. Set "
            "--output_mode=multilabel to learn several labels for a text. "
            f"Received: {cell!r:.200}"
        )
    return convert_label(value[0], place) if value else None


def parse_label_list(
    cell: object, separator: str, place: str
) -> list[str] | None:
    """Returns the labels in a cell, None if the cell is null.

    Examples:
        >>> parse_label_list("a|b", separator="|", place="line 2")
        ['a', 'b']

    Args:
        cell: a list, or text: a list in any notation, or names with `separator`
            between them. An empty text is an empty list.
        separator: the text between two labels.
        place: the place of the cell, for the error.

    Raises:
        ValueError: the cell cannot be read as a list, or contains a 0 or 1 for
            each label.
    """
    value = _unwrap_choices(cell, place)
    if isinstance(value, str):
        value = [] if is_empty(value) else _split_text(value, separator)
    elif is_empty(value):
        return None
    if not isinstance(value, list):
        raise ValueError(
            f"{place}: the labels must be a list in JSON, or names with "
            f"{separator!r} between them, without brackets and quotes. "
            f"Received: {cell!r}"
        )
    names = [convert_label(item, place) for item in value]
    if len({*names}) < len(names) and {"0", "1"}.issuperset(names):
        raise vector_error(place, cell)
    # The same name in two spellings is one label.
    return [*dict.fromkeys(names)]


def vector_error(place: str, cell: object) -> ValueError:
    """Returns the error for a 0 or 1 for each label instead of names."""
    return ValueError(
        f"{place}: the labels must be names, not a 0 or 1 for each label. "
        f"Received: {cell!r}"
    )


def _unwrap_choices(cell: object, place: str) -> object:
    """Returns the list in {"choices": []}, and any other cell as it is.

    Label Studio writes one label as text, and several labels as such an object.
    A tuple becomes a list.

    Examples:
        >>> _unwrap_choices('{"choices": ["ham", "spam"]}', "line 2")
        ['ham', 'spam']
    """
    if isinstance(cell, str) and cell.startswith('{"choices"'):
        cell = parse_json(cell, place)
    if isinstance(cell, dict) and "choices" in cell:
        return cell["choices"]
    return [*cell] if isinstance(cell, tuple) else cell


def _split_text(text: str, separator: str) -> list[str] | None:
    """Reads the list in a cell, or splits the cell at the separator.

    Returns None if nothing shows what the labels are.
    """
    text = text.strip()
    items = parse_list(text, separator)
    if items is not None:
        return None if _may_be_one_name(text, items) else items
    if _VECTOR.fullmatch(text):
        return text.split()
    parts = [part for part in text.split(separator) if part.strip()]
    if any(fits(text, parts) for fits in _MALFORMED_LIST_RULES):
        return None
    return parts


def _may_be_one_name(text: str, items: Sequence[str]) -> bool:
    """Returns whether a list is one name or two, such as `[open sea]`."""
    is_quoted = "'" in text or '"' in text
    return len(items) == 1 and " " in items[0] and not is_quoted


def _is_half_of_list(text: str, parts: Sequence[str]) -> bool:
    """Returns whether a list lacks its beginning or its end: `[1, 5`.

    The names in `sad :(, glad` are no halves of a list.
    """
    has_end = text[0] in "[{" or text[-1] in "]}"
    return len(parts) > 1 and has_end and not all(map(_is_balanced, parts))


def _is_cut_in_brackets(text: str, parts: Sequence[str]) -> bool:
    """Returns whether brackets contain a separator: `boats (small, old)`."""
    return _is_balanced(text) and not all(map(_is_balanced, parts))


def _is_unread_list(text: str, _: Sequence[str]) -> bool:
    """Returns whether brackets enclose what is not a list: `{'sea': 1}`."""
    has_ends = text[0] in "[{" and text[-1] == _CLOSING_OF_OPENING[text[0]]
    return has_ends and _is_balanced(text[1:-1])


# Rules for a text, and for its parts between separators. If one fits, the text
# is a malformed list, and its parts are no names.
_MALFORMED_LIST_RULES: Final[
    tuple[Callable[[str, Sequence[str]], bool], ...]
] = (_is_half_of_list, _is_cut_in_brackets, _is_unread_list)


def _is_balanced(text: str) -> bool:
    """Returns whether each bracket and each double quote has a partner."""
    # The brackets that have to close, the last one first.
    expected: list[str] = []
    for character in text:
        if character in _CLOSING_OF_OPENING:
            expected.append(_CLOSING_OF_OPENING[character])
        elif character in _CLOSING_OF_OPENING.values() and (
            not expected or expected.pop() != character
        ):
            return False
    return not expected and text.count('"') % 2 == 0


def parse_list(text: str, separator: str = ",") -> list[str] | None:
    """Parses a list in the notation of JSON, Python or NumPy, or `[a, b]`.

    Examples:
        >>> parse_list('["a", "b"]'), parse_list("[a, b]")
        (['a', 'b'], ['a', 'b'])
        >>> parse_list("array([1, 2])")
        ['1', '2']

    Args:
        text: text of a cell.
        separator: text that separates names without quotes, besides commas.

    Returns:
        the elements, or None if the text is not such a list.
    """
    text = _unwrap_call(text)
    opening, inner, closing = text[:1], text[1:-1], text[-1:]
    if _CLOSING_OF_OPENING.get(opening) != closing:
        return None
    if _ITEMS.fullmatch(inner):
        return _parse_items(opening, inner)
    return _parse_names(opening, inner, separator)


def _unwrap_call(text: str) -> str:
    """Returns the list in a call such as array([1, 2]).

    A number inside, such as np.int64(5), becomes 5.
    """
    text = _SCALAR.sub(r"\1", text.strip())
    call = _CALL.fullmatch(text)
    return call[1].strip() or "[]" if call else text


def _parse_items(opening: str, inner: str) -> list[str] | None:
    """Parses quoted texts and numbers.

    A text in parentheses is a name, and ("a",) is a list.
    """
    if opening == "(" and inner and not re.search("[,'\"]", inner):
        return None
    return [_unquote(item[0]) for item in _ITEM.finditer(inner)]


def _parse_names(opening: str, inner: str, separator: str) -> list[str] | None:
    """Parses names without quotes.

    Returns None if the text is another list: a nested list, a list with a
    broken quote, or a list in which a label is missing.
    """
    marks_of_other_lists = '[](){}"' + (":" if opening == "{" else "")
    if opening == "(" or not {*inner}.isdisjoint(marks_of_other_lists):
        return None
    parts = inner.replace(separator, ",").split(",")
    names = [part.strip() for part in parts]
    if not names[-1]:
        names.pop()
    if any(name[:1] in ("", "'") or name.endswith("'") for name in names):
        return None
    is_null = any(name.casefold() in ("none", "nan", "null") for name in names)
    return None if is_null else names


def _unquote(item: str) -> str:
    """Returns the text between quotes, or a number as text."""
    text = item.lstrip("uUbB")
    if text[0] not in "'\"":
        # NumPy shows 1.0 as `1.`.
        return item.removesuffix(".")
    if text[0] == '"':
        try:
            return str(parse_json(text, "", str))
        except ValueError:
            pass
    try:
        return str(ast.literal_eval(text))
    except (SyntaxError, ValueError):
        # A line break between the quotes.
        return text[1:-1]
