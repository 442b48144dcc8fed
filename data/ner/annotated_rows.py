"""Parses a row of an annotation tool's file: its spans, or its tags.

docs/named_entities.md shows the formats of the tools.
"""

import dataclasses
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
from data.tables.headers.usual_names import (
    SPAN_NAMES,
    TAG_LIST_NAMES,
    WORD_LIST_NAMES,
)
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


@dataclasses.dataclass(frozen=True)
class AnnotatedRow:
    """A row of an annotation tool's file, which has tags, or a text with spans.

    Examples:
        >>> values = {"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]}
        >>> row = AnnotatedRow(values, "line 1")
        >>> row.parse_tagged_sentence(needs_tags=True)
        TaggedSentence(words=['Ann', 'left'], tags=['B-PER', 'O'], text=None)
        >>> values = {"text": "Ann left", "entities": [[0, 3, "PER"]]}
        >>> row = AnnotatedRow(values, "line 1")
        >>> row.parse_tagged_sentence(needs_tags=True) is None
        True
        >>> row.parse_annotated_text(needs_spans=True)
        AnnotatedText(text='Ann left', spans=[[0, 3, 'PER']])

    Attributes:
        values: {key: value} of the row, {} if it is not an object.
        place: the file and the place of the row in it, for messages.
    """

    values: JsonObject
    place: str

    def parse_tagged_sentence(
        self, *, needs_tags: bool
    ) -> TaggedSentence | None:
        """Returns the words and tags of the row, or None if it has none.

        None also means that spans annotate the row, which
        `parse_annotated_text` then returns.

        Args:
            needs_tags: False if the row may lack its tags. All tags are then O.

        Raises:
            ValueError: there are more or fewer tags than words, or the tags
                contradict the row's text, spans or other tags.
        """
        entries = self._find_word_entries(needs_tags=needs_tags)
        if entries is None:
            return None
        words = entries.words
        if not entries.tags_of_key:
            return TaggedSentence(words, ["O"] * len(words), None)
        entries.check_tags(self.place)
        tag_key, values = next(iter(entries.tags_of_key.items()))
        tags = [str(tag) for tag in values]
        sentence = TaggedSentence(words, tags, self._text)
        self._check_text_and_spans(tag_key, sentence)
        return sentence

    def parse_annotated_text(self, *, needs_spans: bool) -> AnnotatedText:
        """Returns the text and the spans of the row.

        Args:
            needs_spans: False if the row may lack a key for spans.

        Raises:
            ValueError: the row lacks a text or spans, or two keys contain spans
                that differ.
        """
        row = self
        if is_label_studio_task(self.values):
            values = parse_label_studio_task(self.values, self.place)
            row = dataclasses.replace(self, values=values)
        keys = row._list_span_keys()
        spans = row.values[keys[0]] if keys else None
        text = row.values.get("text")
        if "text" in row.values and text is None:
            return AnnotatedText("", None)
        if isinstance(text, str) and not text.strip():
            return AnnotatedText(text, None)
        if not isinstance(text, str) or (needs_spans and not keys):
            raise ValueError(
                f"{self.place}: found the keys "
                f"{', '.join(row.values) or 'of no object'}. An "
                f"entry is Label Studio's, or has `text` and spans as "
                f"{', '.join(SPAN_NAMES)}, or words as "
                f"{', '.join(WORD_LIST_NAMES)} and tags as "
                f"{', '.join(TAG_LIST_NAMES)}"
            )
        if prodigy.is_left_out(row.values):
            spans = None
        return AnnotatedText(
            text, spans if isinstance(spans, list | None) else [spans]
        )

    @property
    def _text(self) -> str | None:
        """The text beside the words, None if there is none."""
        text = self.values.get("text")
        return text if isinstance(text, str) else None

    @property
    def _has_any_span(self) -> bool:
        return any(has_spans(self.values.get(key)) for key in SPAN_NAMES)

    def _find_word_entries(self, *, needs_tags: bool) -> "_WordEntries | None":
        """Finds the words and tags of the row.

        Returns None if the row has no words, or no tags that belong to them. A
        row without tags and without a text needs none if `needs_tags` is False.
        """
        named_words = self._find_words()
        if named_words is None:
            return None
        word_key, words = named_words
        tags_of_key = self._select_tag_lists(words)
        if tags_of_key:
            # Beside spans, lists of other lengths do not belong to the words.
            lengths = map(len, tags_of_key.values())
            is_sentence = not self._has_any_span or len(words) in lengths
        else:
            is_sentence = not (needs_tags or self._text)
        if not is_sentence:
            return None
        return _WordEntries(word_key, words, tags_of_key)

    def _find_words(self) -> tuple[str, list[str]] | None:
        """Returns (key, words) of the row's words, None if it has none."""
        for key in WORD_LIST_NAMES:
            words = self.values.get(key)
            # spaCy writes `tokens`: [] beside a text.
            if _is_list_of(words, str) and (words or self._text is None):
                return key, words
        return None

    def _select_tag_lists(
        self, words: Sequence[str]
    ) -> dict[str, list[object]]:
        """Returns {key: tags} of the row's lists of tags: strings or numbers.

        Lists with as many tags as there are words come first.
        """
        tags_of_key: dict[str, list[object]] = {}
        for key in TAG_LIST_NAMES:
            tags = self.values.get(key)
            # An empty list is spans.
            if not _is_list_of(tags, str, int) or (words and not tags):
                continue
            # Beside spans, a list may be a text's classes.
            if not self._has_any_span or all(is_tag(str(tag)) for tag in tags):
                tags_of_key[key] = tags
        keys = sorted(
            tags_of_key, key=lambda key: len(tags_of_key[key]) != len(words)
        )
        return {key: tags_of_key[key] for key in keys}

    def _check_text_and_spans(
        self, tag_key: str, sentence: TaggedSentence
    ) -> None:
        """Raises a ValueError if words or tags contradict the text or spans.

        The tags of the `sentence` are from the entry `tag_key`. Without a text,
        there is nothing to check.
        """
        words, tags, text = sentence
        if text is None:
            return
        try:
            word_spans = find_words(text, words)
        except ValueError:
            raise _contradiction_error(
                self.place, "words", words, "text", text
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
        for key in self._list_span_keys():
            spans = self.values.get(key)
            if key == tag_key or not is_list_of_spans(spans):
                continue
            if {parse_span(span) for span in spans} not in readings:
                raise _contradiction_error(
                    self.place, tag_key, tags, key, spans
                )

    def _list_span_keys(self) -> list[str]:
        """Returns the row's keys of spans, a key that contains spans first.

        Tools may write values of other kinds under the other keys. For example,
        `entities` is first in {"label": "news", "entities": [[0, 3, "PER"]]}.
        Raises a ValueError if two keys contain spans that differ.
        """
        values = self.values
        keys = [key for key in SPAN_NAMES if key in values]
        keys.sort(key=lambda key: not has_spans(values[key]))
        first = values[keys[0]] if keys else None
        if not has_spans(first):
            return keys
        for key in keys[1:]:
            spans = values[key]
            # spaCy writes an empty list beside its `ents`.
            is_empty = not spans and "ents" in values
            if is_empty or not is_list_of_spans(spans):
                continue
            if {*map(parse_span, spans)} != {*map(parse_span, first)}:
                raise _contradiction_error(
                    self.place, keys[0], first, key, spans
                )
        return keys


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

    def check_tags(self, place: str) -> None:
        """Raises a ValueError if the tags contradict the words or each other.

        The hub's `ner_tags` may be beside tags of other tasks.
        """
        num_words = len(self.words)
        (first_key, first_tags), *others = self.tags_of_key.items()
        if len(first_tags) != num_words:
            raise ValueError(
                f"{place}: `{self.word_key}` contains {num_words} words, but "
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


def _contradiction_error(
    place: str, key: str, value: object, other_key: str, other_value: object
) -> ValueError:
    return ValueError(
        f"{place}: `{key}` and `{other_key}` contradict each other: "
        f"{repr(value)[:200]} and {repr(other_value)[:200]}. Remove the one "
        "that is wrong"
    )
