"""Parses a row of an annotation tool's file: its spans, or its tags.

docs/named_entities.md shows the formats of the tools.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard, TypeVar

from data.ner.entity_scoring import list_entities, to_scheme
from data.ner.labeled_spans import (
    has_spans,
    is_label_studio_task,
    is_list_of_spans,
    parse_label_studio_task,
    parse_span,
)
from data.ner.ner_examples import find_words
from data.ner.tag_names import is_tag
from data.tables import prodigy
from data.tables.usual_names import SPAN_NAMES, TAG_LIST_NAMES, WORD_LIST_NAMES
from files.json_files import JsonObject

_ValueT = TypeVar("_ValueT")

# Keys that run_ner.py's dev_predictions.jsonl adds to a row.
_KEYS_OF_ANSWERS = (
    "guid",
    "predicted_labels",
    "predicted_entities",
    "probabilities",
    "correct",
)


class TaggedSentence(NamedTuple):
    """The words of a sentence, their tags, and its text if a row has one."""

    words: list[str]
    tags: list[str]
    text: str | None


class AnnotatedText(NamedTuple):
    """A text, and the spans that a tool marked in it.

    Attributes:
        text: the text, "" if it is null.
        spans: the spans as the tool writes them, None if the text was not
            annotated or was rejected.
    """

    text: str
    spans: list[object] | None


def without_answers(row: JsonObject) -> JsonObject:
    """Returns a row without what a model answered for it."""
    if "predicted_entities" not in row:
        return row
    return {name: row[name] for name in row if name not in _KEYS_OF_ANSWERS}


def parse_tagged_sentence(
    row: JsonObject, place: str, *, needs_tags: bool
) -> TaggedSentence | None:
    """Returns the words and tags of a row, or None if it has none.

    None also means that spans annotate the row: `parse_annotated_text` reads
    them.

    Examples:
        >>> row = {"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]}
        >>> parse_tagged_sentence(row, "line 1", needs_tags=True)
        TaggedSentence(words=['Ann', 'left'], tags=['B-PER', 'O'], text=None)

    Args:
        row: an object of a file of JSON lines, or of a list in JSON.
        place: place of the row, for messages.
        needs_tags: False if a row may lack its tags. All tags are then O.

    Raises:
        ValueError: there are more or fewer tags than words, or the tags
            contradict the row's text, spans or other tags.
    """
    text = row.get("text")
    if not isinstance(text, str):
        text = None
    entries = _find_entries(row, text, needs_tags=needs_tags)
    if entries is None:
        return None
    if not entries.tags_of_key:
        return TaggedSentence(entries.words, ["O"] * len(entries.words), None)
    _check_tags(entries, place)
    tag_key, tags = next(iter(entries.tags_of_key.items()))
    sentence = TaggedSentence(entries.words, [str(tag) for tag in tags], text)
    _check_text_and_spans(row, place, tag_key, sentence)
    return sentence


class _WordEntries(NamedTuple):
    """The entries of a row that contain words and their tags.

    Attributes:
        word_key: key of the words.
        words: the words.
        tags_of_key: {key: tags}, strings or numbers. The first tags are used,
            and the others only compared. {} if all tags are O.
    """

    word_key: str
    words: list[str]
    tags_of_key: dict[str, list[object]]


def _find_entries(
    row: JsonObject, text: str | None, *, needs_tags: bool
) -> _WordEntries | None:
    """Finds the words and tags of a row.

    Returns None if the row has no words, or no tags that belong to them. A row
    without tags and without a text needs none if `needs_tags` is False.
    """
    named_words = _find_words_of_row(row, text)
    if named_words is None:
        return None
    word_key, words = named_words
    has_any_span = any(has_spans(row.get(key)) for key in SPAN_NAMES)
    tags_of_key = _select_tag_lists(row, words, has_any_span)
    if tags_of_key:
        # Beside spans, lists of other lengths do not belong to the words.
        lengths = map(len, tags_of_key.values())
        is_sentence = not has_any_span or len(words) in lengths
    else:
        is_sentence = not (needs_tags or text)
    if not is_sentence:
        return None
    return _WordEntries(word_key, words, tags_of_key)


def _find_words_of_row(
    row: JsonObject, text: str | None
) -> tuple[str, list[str]] | None:
    """Returns (key, words) of a row's words, None if it has none."""
    for key in WORD_LIST_NAMES:
        words = row.get(key)
        # spaCy writes `tokens`: [] beside a text.
        if _is_list_of(words, str) and (words or text is None):
            return key, words
    return None


def _select_tag_lists(
    row: JsonObject, words: Sequence[str], has_any_span: bool
) -> dict[str, list[object]]:
    """Returns {key: tags} of a row's lists of tags, as strings or numbers.

    Lists with as many tags as there are words come first.
    """
    tags_of_key: dict[str, list[object]] = {}
    for key in TAG_LIST_NAMES:
        tags = row.get(key)
        # An empty list is spans.
        if not _is_list_of(tags, str, int) or (words and not tags):
            continue
        # Beside spans, a list may be a text's classes.
        if not has_any_span or all(is_tag(str(tag)) for tag in tags):
            tags_of_key[key] = tags
    keys = sorted(
        tags_of_key, key=lambda key: len(tags_of_key[key]) != len(words)
    )
    return {key: tags_of_key[key] for key in keys}


def _check_tags(entries: _WordEntries, place: str) -> None:
    """Raises a ValueError if the tags contradict the words or each other.

    The hub's `ner_tags` may be beside tags of other tasks.
    """
    num_words = len(entries.words)
    (first_key, first_tags), *others = entries.tags_of_key.items()
    if len(first_tags) != num_words:
        raise ValueError(
            f"{place}: `{entries.word_key}` contains {num_words} words, but "
            f"`{first_key}` {len(first_tags)} tags"
        )
    if first_key == "ner_tags":
        return
    for key, tags in others:
        if len(tags) == num_words and tags != first_tags:
            texts = [str(tag) for tag in first_tags]
            raise _contradiction_error(place, first_key, texts, key, tags)


def _is_list_of(
    values: object, *types: type[_ValueT]
) -> TypeGuard[list[_ValueT]]:
    """Returns whether a JSON value is a list of values of these types."""
    return isinstance(values, list) and all(
        type(value) in types for value in values
    )


def _check_text_and_spans(
    row: JsonObject, place: str, tag_key: str, sentence: TaggedSentence
) -> None:
    """Raises a ValueError if words or tags contradict a row's text or spans.

    `sentence` was read from the row, its tags from the entry `tag_key`. Without
    a text, there is nothing to check.
    """
    words, tags, text = sentence
    if text is None:
        return
    try:
        word_spans = find_words(text, words)
    except ValueError:
        raise _contradiction_error(
            place, "words", words, "text", text
        ) from None
    if any(tag.isdigit() for tag in tags):
        return
    # The tags of adjacent entities can be read in two ways.
    readings = [
        {
            (word_spans[start][0], word_spans[end - 1][1], entity_type)
            for entity_type, start, end in list_entities(read_tags)
        }
        for read_tags in (tags, to_scheme(tags))
    ]
    for key in _list_span_keys(row, place):
        spans = row.get(key)
        if key == tag_key or not is_list_of_spans(spans):
            continue
        if {parse_span(span) for span in spans} not in readings:
            raise _contradiction_error(place, tag_key, tags, key, spans)


def _contradiction_error(
    place: str, key: str, value: object, other_key: str, other_value: object
) -> ValueError:
    return ValueError(
        f"{place}: `{key}` and `{other_key}` contradict each other: "
        f"{repr(value)[:200]} and {repr(other_value)[:200]}. Remove the one "
        "that is wrong"
    )


def parse_annotated_text(
    row: JsonObject, place: str, *, needs_spans: bool
) -> AnnotatedText:
    """Returns the text and the spans of a row.

    Examples:
        >>> row = {"text": "Ann left", "entities": [[0, 3, "PER"]]}
        >>> parse_annotated_text(row, "line 1", needs_spans=True)
        AnnotatedText(text='Ann left', spans=[[0, 3, 'PER']])

    Args:
        row: the row, {} if it is not an object.
        place: place of the row, for messages.
        needs_spans: False if the row may lack a key for spans.

    Raises:
        ValueError: the row lacks a text or spans, or two keys contain spans
            that differ.
    """
    if is_label_studio_task(row):
        row = parse_label_studio_task(row, place)

    keys = _list_span_keys(row, place)
    values = row[keys[0]] if keys else None
    text = row.get("text")
    if "text" in row and text is None:
        return AnnotatedText("", None)
    if isinstance(text, str) and not text.strip():
        return AnnotatedText(text, None)
    if not isinstance(text, str) or (needs_spans and not keys):
        raise ValueError(
            f"{place}: found the keys {', '.join(row) or 'of no object'}. An "
            f"entry is Label Studio's, or has `text` and spans as "
            f"{', '.join(SPAN_NAMES)}, or words as "
            f"{', '.join(WORD_LIST_NAMES)} and tags as "
            f"{', '.join(TAG_LIST_NAMES)}"
        )
    if prodigy.is_left_out(row):
        values = None
    spans = values if isinstance(values, list | None) else [values]
    return AnnotatedText(text, spans)


def _list_span_keys(row: JsonObject, place: str) -> list[str]:
    """Returns the keys of spans in a row, a key that contains spans first.

    Tools may write values of other kinds under the other keys. For example,
    `entities` is first in {"label": "news", "entities": [[0, 3, "PER"]]}.
    Raises a ValueError if two keys contain spans that differ.
    """
    keys = [key for key in SPAN_NAMES if key in row]
    keys.sort(key=lambda key: not has_spans(row[key]))
    first = row[keys[0]] if keys else None
    if not has_spans(first):
        return keys
    for key in keys[1:]:
        spans = row[key]
        # spaCy writes an empty list beside its `ents`.
        is_empty = not spans and "ents" in row
        if is_empty or not is_list_of_spans(spans):
            continue
        if {*map(parse_span, spans)} != {*map(parse_span, first)}:
            raise _contradiction_error(place, keys[0], first, key, spans)
    return keys
