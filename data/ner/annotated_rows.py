"""Parses a row of an annotation tool's file: its spans, or its tags.

docs/named_entities.md shows the formats of the tools. Label Studio writes spans
as the results of people who annotated a text:

    {"data": {"text": "Ann left"}, "annotations": [{"result": [
        {"value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}

A task has an annotation of each person who worked on it. A result of an
annotation is a span, or something else, such as the class of the text.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypedDict, TypeGuard, TypeVar

from data.ner.entity_scoring import list_entities, to_scheme
from data.ner.labeled_spans import has_spans, is_list_of_spans, parse_span
from data.ner.ner_examples import find_words
from data.ner.tag_names import is_tag
from data.tables import tables
from data.tables.column_names import SPAN_NAMES, TAG_LIST_NAMES, WORD_LIST_NAMES
from files.json_files import JsonObject

_ValueT = TypeVar("_ValueT")


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
        words = self._find_words()
        if words is None:
            return None
        tag_lists = self._choose_tags(words.value)
        if tag_lists is None:
            if needs_tags or self._text:
                return None
            return TaggedSentence(words.value, ["O"] * len(words.value), None)
        tag_list, others = tag_lists
        # Beside spans, a list of another length does not belong to the words.
        if self._has_any_span and len(tag_list.value) != len(words.value):
            return None
        self._check_tags(words, tag_list, others)
        tags = [str(tag) for tag in tag_list.value]
        sentence = TaggedSentence(words.value, tags, self._text)
        self._check_text_and_spans(tag_list.key, sentence)
        return sentence

    def parse_annotated_text(self, *, needs_spans: bool) -> AnnotatedText:
        """Returns the text and the spans of the row.

        Args:
            needs_spans: False if the row may lack a key for spans.

        Raises:
            ValueError: the row lacks a text or spans, or two keys contain spans
                that differ.
        """
        if not is_label_studio_task(self.values):
            return self._parse_text_and_spans(needs_spans)
        values = parse_label_studio_task(self.values, self.place)
        row_with_spans = AnnotatedRow(values, self.place)
        return row_with_spans._parse_text_and_spans(needs_spans)

    def _parse_text_and_spans(self, needs_spans: bool) -> AnnotatedText:
        """Returns the text and spans of a row that is no Label Studio task."""
        span_entries = self._choose_spans()
        spans = span_entries.chosen.value if span_entries else None
        text = self.values.get("text")
        if "text" in self.values and text is None:
            return AnnotatedText("", None)
        if isinstance(text, str) and not text.strip():
            return AnnotatedText(text, None)
        if not isinstance(text, str) or (needs_spans and not span_entries):
            raise ValueError(
                f"{self.place}: found the keys "
                f"{', '.join(self.values) or 'of no object'}. An "
                f"entry is Label Studio's, or has `text` and spans as "
                f"{', '.join(SPAN_NAMES)}, or words as "
                f"{', '.join(WORD_LIST_NAMES)} and tags as "
                f"{', '.join(TAG_LIST_NAMES)}"
            )
        if tables.is_rejected_in_prodigy(self.values):
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
        if not any(tag.isdigit() for tag in tags):
            self._check_spans(tag_key, tags, word_spans)

    def _check_spans(
        self,
        tag_key: str,
        tags: Sequence[str],
        word_spans: Sequence[tuple[int, int]],
    ) -> None:
        """Raises a ValueError if tags contradict the spans of the row.

        `word_spans` are the characters (start, end) of each word in the text.
        """
        # The tags of adjacent entities can be read in two ways.
        readings = [
            {
                (word_spans[start][0], word_spans[end - 1][1], entity_type)
                for entity_type, start, end in list_entities(read_tags)
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


class _Result(TypedDict, total=False):
    """A result of an annotation, `value` of which may be a span."""

    value: JsonObject


class _Annotation(TypedDict, total=False):
    """The spans that a person marked in the text of a task."""

    result: list[_Result] | None
    was_cancelled: bool
    ground_truth: bool


class LabelStudioTask(TypedDict, total=False):
    """A text to annotate, as Label Studio exports it."""

    data: JsonObject
    text: object
    annotations: list[_Annotation] | None


def is_label_studio_task(row: JsonObject) -> TypeGuard[LabelStudioTask]:
    """Returns whether a row is a task of a Label Studio export."""
    may_be_task = "annotations" in row or "text" not in row
    return isinstance(row.get("data"), dict) and may_be_task


def parse_label_studio_task(task: LabelStudioTask, place: str) -> JsonObject:
    """Converts a task to a row with the keys `text` and `entities`.

    Examples:
        >>> span = {"start": 0, "end": 3, "labels": ["PER"]}
        >>> annotations = [{"result": [{"value": span}]}]
        >>> task = {"data": {"text": "Ann left"}, "annotations": annotations}
        >>> parse_label_studio_task(task, "line 1")["entities"] == [span]
        True

    Args:
        task: the task. `is_label_studio_task` must be true of it.
        place: place of the task, for messages.

    Returns:
        the data of the task, its text as `text`, and as `entities` the spans
        as Label Studio writes them, None if the text was not annotated.

    Raises:
        ValueError: the annotations of the task differ, and none is marked as
            the ground truth.
    """
    annotations = _select_finished_annotations(task)
    spans = [*map(_spans_of_annotation, annotations)]
    if len({frozenset(map(parse_span, values)) for values in spans}) > 1:
        raise ValueError(
            f"{place}: the {len(spans)} annotations of this text differ; keep "
            "only one of them, or mark one as ground truth in Label Studio"
        )
    data = task["data"]
    texts = [value for value in data.values() if isinstance(value, str)]
    row: JsonObject = {"text": texts[0]} if len(texts) == 1 else {}
    # A task's data may contain the answers of a model, which the annotation
    # corrects.
    row |= {key: data[key] for key in data if key not in SPAN_NAMES}
    if "text" in task:
        row.setdefault("text", task["text"])
    return row | {"entities": spans[0] if spans else None}


def _select_finished_annotations(task: LabelStudioTask) -> list[_Annotation]:
    """Returns the annotations of a task that nobody cancelled.

    If any annotation is marked as ground truth, only such annotations are
    returned.
    """
    annotations = [
        annotation
        for annotation in task.get("annotations") or []
        if not annotation.get("was_cancelled")
    ]
    ground_truth = [
        annotation
        for annotation in annotations
        if annotation.get("ground_truth")
    ]
    return ground_truth or annotations


def _spans_of_annotation(annotation: _Annotation) -> list[JsonObject]:
    """Returns the spans of Label Studio's annotation, as it writes them."""
    # Skip results of other kinds, such as a text's class.
    return [
        result["value"]
        for result in annotation.get("result") or []
        if {"labels", "hypertextlabels"} & result.get("value", {}).keys()
    ]
