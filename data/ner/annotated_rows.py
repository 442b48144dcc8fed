"""Parses a row of an annotation tool's file: its spans, or its tags.

docs/named_entities.md shows the formats of the tools. label_studio.py converts
the tasks of Label Studio to rows with spans.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeGuard, TypeVar

from data.ner.entity_scoring import list_entities, to_scheme
from data.ner.label_studio import is_label_studio_task, parse_label_studio_task
from data.ner.labeled_spans import (
    LabeledSpan,
    has_spans,
    is_list_of_spans,
    parse_span,
)
from data.ner.ner_examples import find_words
from data.ner.tag_names import is_tag
from data.tables import prodigy_rows
from data.tables.column_names import SPAN_NAMES, TAG_LIST_NAMES, WORD_LIST_NAMES
from data.text.characters import CharacterSpan
from files.json_files import JsonObject

_ValueT = TypeVar("_ValueT")


class TaggedSentence(NamedTuple):
    """The words of a sentence, and their tags.

    Attributes:
        words: the words of the sentence.
        tags: the tags of the words, O for each word if `is_annotated` is False.
        text: the text that contains the words, None if the row has none.
        is_annotated: False if the annotator rejected the sentence.
    """

    words: list[str]
    tags: list[str]
    text: str | None
    is_annotated: bool = True


class AnnotatedText(NamedTuple):
    """A text, and the spans that a tool marked in it.

    Attributes:
        text: the text, "" if it is null.
        spans: the spans as the tool writes them.
        is_annotated: False if nobody annotated the text, or if the annotator
            rejected it. It then has no spans.
    """

    text: str
    spans: list[object]
    is_annotated: bool = True


class _Entry(NamedTuple, Generic[_ValueT]):
    """An entry of a row."""

    key: str
    value: _ValueT


class _EntryChoice(NamedTuple, Generic[_ValueT]):
    """Entries of a row that should say the same.

    Attributes:
        chosen: the entry to use.
        others: the other entries, to compare with it.
    """

    chosen: _Entry[_ValueT]
    others: list[_Entry[_ValueT]]


@dataclasses.dataclass(frozen=True)
class AnnotatedRow:
    """A row of an annotation tool's file, which has tags, or a text with spans.

    Examples:
        >>> values = {"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]}
        >>> sentence = AnnotatedRow(values, "line 1").parse()
        >>> type(sentence).__name__, sentence.words, sentence.tags
        ('TaggedSentence', ['Ann', 'left'], ['B-PER', 'O'])
        >>> values = {"text": "Ann left", "entities": [[0, 3, "PER"]]}
        >>> text = AnnotatedRow(values, "line 1").parse()
        >>> type(text).__name__, text.text, text.spans
        ('AnnotatedText', 'Ann left', [[0, 3, 'PER']])

    Attributes:
        values: {key: value} of the row, {} if it is not an object.
        place: the file and the place of the row in it, for messages.
    """

    values: JsonObject
    place: str

    def parse(
        self, *, needs_annotations: bool = True
    ) -> TaggedSentence | AnnotatedText:
        """Returns the words and tags of the row, or its text and spans.

        Args:
            needs_annotations: False if the row may lack tags and spans. All
                tags are then O, or the text is one that nobody annotated.

        Raises:
            ValueError: the row has neither words with tags nor a text with
                spans, there are more or fewer tags than words, two keys
                contradict each other, or people annotated the text differently.
        """
        sentence = self._parse_tagged_sentence(needs_tags=needs_annotations)
        if sentence is not None:
            return sentence
        if is_label_studio_task(self.values):
            values = parse_label_studio_task(self.values, self.place)
            row_with_spans = AnnotatedRow(values, self.place)
            return row_with_spans._parse_annotated_text(
                needs_spans=needs_annotations
            )
        return self._parse_annotated_text(needs_spans=needs_annotations)

    def _parse_tagged_sentence(
        self, *, needs_tags: bool
    ) -> TaggedSentence | None:
        """Returns the words and tags, None if the row must be read as a text.

        If the row has words without tags, and may lack them, all tags are O.
        """
        words = self._find_words()
        if words is None:
            return None
        tag_lists = self._choose_tags(words.value)
        if tag_lists is None:
            if needs_tags or self._text:
                return None
            return self._create_sentence(words.value, ["O"] * len(words.value))
        tag_list, others = tag_lists
        # Beside spans, a list of another length does not belong to the words.
        if self._has_any_span and len(tag_list.value) != len(words.value):
            return None
        self._check_tags(words, tag_list, others)
        tags = [str(tag) for tag in tag_list.value]
        self._check_text_and_spans(words.value, tags, tag_list.key)
        return self._create_sentence(words.value, tags)

    def _create_sentence(
        self, words: list[str], tags: list[str]
    ) -> TaggedSentence:
        """Returns a sentence, without its tags if the annotator rejected it."""
        text = self._text or None
        if prodigy_rows.is_rejected_in_prodigy(self.values):
            no_tags = ["O"] * len(words)
            return TaggedSentence(words, no_tags, text, is_annotated=False)
        return TaggedSentence(words, tags, text)

    def _parse_annotated_text(self, *, needs_spans: bool) -> AnnotatedText:
        """Returns the text and the spans of the row.

        Raises a ValueError if the row lacks a text, or spans that it needs, or
        if two keys contain different spans.
        """
        span_entries = self._choose_spans()
        text = self.values.get("text")
        if "text" in self.values and text is None:
            return AnnotatedText("", [], is_annotated=False)
        if isinstance(text, str) and not text.strip():
            return AnnotatedText(text, [], is_annotated=False)
        if not isinstance(text, str) or (needs_spans and not span_entries):
            raise self._create_format_error()
        spans = span_entries.chosen.value if span_entries else None
        is_rejected = prodigy_rows.is_rejected_in_prodigy(self.values)
        if spans is None or is_rejected:
            return AnnotatedText(text, [], is_annotated=False)
        return AnnotatedText(
            text, spans if isinstance(spans, list) else [spans]
        )

    def _create_format_error(self) -> ValueError:
        """Returns the error of a row that is of no known format."""
        return ValueError(
            f"{self.place}: found the keys "
            f"{', '.join(self.values) or 'of no object'}. An "
            f"entry is Label Studio's, or has `text` and spans as "
            f"{', '.join(SPAN_NAMES)}, or words as "
            f"{', '.join(WORD_LIST_NAMES)} and tags as "
            f"{', '.join(TAG_LIST_NAMES)}"
        )

    @property
    def _text(self) -> str | None:
        """The text beside the words, None if there is none."""
        text = self.values.get("text")
        return text if isinstance(text, str) else None

    @property
    def _has_any_span(self) -> bool:
        return any(has_spans(self.values.get(key)) for key in SPAN_NAMES)

    def _find_words(self) -> _Entry[list[str]] | None:
        """Returns the entry of the row's words, None if it has none."""
        for key in WORD_LIST_NAMES:
            words = self.values.get(key)
            # spaCy writes `tokens`: [] beside a text.
            if _is_list_of(words, str) and (words or self._text is None):
                return _Entry(key, words)
        return None

    def _choose_tags(
        self, words: Sequence[str]
    ) -> _EntryChoice[list[object]] | None:
        """Chooses among the row's lists of tags, which are strings or numbers.

        A list with as many tags as there are words is better than others.
        Returns None if the row has no list of tags.
        """
        tag_lists: list[_Entry[list[object]]] = []
        for key in TAG_LIST_NAMES:
            tags = self.values.get(key)
            # An empty list says that a text contains no span.
            if not _is_list_of(tags, str, int) or (words and not tags):
                continue
            # Beside spans, a list may be a text's classes.
            if not self._has_any_span or all(is_tag(str(tag)) for tag in tags):
                tag_lists.append(_Entry(key, tags))
        return _choose_entry(
            tag_lists, is_better=lambda tags: len(tags) == len(words)
        )

    def _choose_spans(self) -> _EntryChoice[object] | None:
        """Chooses among the row's entries that may be spans.

        An entry that contains spans is better than others, because tools write
        other values under the same keys. For example, `entities` is chosen in
        {"label": "news", "entities": [[0, 3, "PER"]]}. Returns None if the row
        has no such entry. Raises a ValueError if two entries contain
        different spans.
        """
        values = self.values
        choice = _choose_entry(
            [_Entry(key, values[key]) for key in SPAN_NAMES if key in values],
            is_better=has_spans,
        )
        if choice is None:
            return None
        (chosen_key, chosen_spans), others = choice
        if not has_spans(chosen_spans):
            return choice
        for key, spans in others:
            # spaCy writes an empty list beside its `ents`.
            is_empty = not spans and "ents" in values
            if is_empty or not is_list_of_spans(spans):
                continue
            if {*map(parse_span, spans)} != {*map(parse_span, chosen_spans)}:
                raise _contradiction_error(
                    self.place, chosen_key, chosen_spans, key, spans
                )
        return choice

    def _check_tags(
        self,
        words: _Entry[list[str]],
        tag_list: _Entry[list[object]],
        others: Sequence[_Entry[list[object]]],
    ) -> None:
        """Raises a ValueError if tags contradict the words or other tags.

        The hub's `ner_tags` may be beside tags of other tasks.
        """
        num_words = len(words.value)
        if len(tag_list.value) != num_words:
            raise ValueError(
                f"{self.place}: `{words.key}` contains {num_words} words, but "
                f"`{tag_list.key}` {len(tag_list.value)} tags"
            )
        if tag_list.key == "ner_tags":
            return
        for key, tags in others:
            if len(tags) == num_words and tags != tag_list.value:
                texts = [str(tag) for tag in tag_list.value]
                raise _contradiction_error(
                    self.place, tag_list.key, texts, key, tags
                )

    def _check_text_and_spans(
        self, words: Sequence[str], tags: Sequence[str], tag_key: str
    ) -> None:
        """Raises a ValueError if words or tags contradict the text or spans.

        The tags are from the entry `tag_key`. Without a text, there is nothing
        to check.
        """
        text = self._text
        if text is None:
            return
        try:
            word_spans = find_words(text, words)
        except ValueError:
            raise _contradiction_error(
                self.place, "words", words, "text", text
            ) from None
        if not any(tag.isdigit() for tag in tags):
            self._check_spans(tag_key, tags, word_spans)

    def _check_spans(
        self,
        tag_key: str,
        tags: Sequence[str],
        word_spans: Sequence[CharacterSpan],
    ) -> None:
        """Raises a ValueError if tags contradict the spans of the row.

        `word_spans` are the places of the words in the text.
        """
        # The tags of adjacent entities can be read in two ways.
        readings = [
            {
                LabeledSpan(
                    word_spans[entity.start].start,
                    word_spans[entity.end - 1].end,
                    entity.entity_type,
                )
                for entity in list_entities(read_tags)
            }
            for read_tags in (tags, to_scheme(tags))
        ]
        span_entries = self._choose_spans()
        if span_entries is None:
            return
        for key, spans in (span_entries.chosen, *span_entries.others):
            if key == tag_key or not is_list_of_spans(spans):
                continue
            if {parse_span(span) for span in spans} not in readings:
                raise _contradiction_error(
                    self.place, tag_key, tags, key, spans
                )


def _choose_entry(
    entries: Sequence[_Entry[_ValueT]], is_better: Callable[[_ValueT], bool]
) -> _EntryChoice[_ValueT] | None:
    """Chooses the first entry whose value is better, or else the first entry.

    Returns None without entries.
    """
    if not entries:
        return None
    better = (entry for entry in entries if is_better(entry.value))
    chosen = next(better, entries[0])
    others = [entry for entry in entries if entry is not chosen]
    return _EntryChoice(chosen, others)


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
