"""Parses the spans of named entities that annotation tools mark in a text.

A span is [start, end, label], or an object with these values, whichever tool
wrote it. span_tagging.py tags the words that spans cover.
"""

from typing import NamedTuple, TypeGuard

from data.text.characters import CharacterSpan
from model_folders.labels import is_label


class LabeledSpan(NamedTuple):
    """A named entity in a text.

    Attributes:
        start: index of the first character.
        end: index after the last character.
        label: type of the entity.
    """

    start: int
    end: int
    label: str

    @property
    def characters(self) -> CharacterSpan:
        """The characters of the entity."""
        return CharacterSpan(self.start, self.end)


def has_spans(value: object) -> TypeGuard[list[object]]:
    """Returns whether a JSON value is a list that begins with a span."""
    return isinstance(value, list) and any(map(parse_span, value[:1]))


def is_list_of_spans(value: object) -> TypeGuard[list[object]]:
    """Returns whether a JSON value is a list of spans, which may be empty."""
    return value == [] or has_spans(value)


def parse_span(value: object) -> LabeledSpan | None:
    """Converts the JSON value of a span. Returns None if it is not one.

    Examples:
        >>> parse_span([0, 3, "PER"])
        LabeledSpan(start=0, end=3, label='PER')
        >>> parse_span({"start_offset": 0, "end_offset": 3, "label": "PER"})
        LabeledSpan(start=0, end=3, label='PER')
    """
    if isinstance(value, dict):
        names = ("label", "type", "labels", "hypertextlabels")
        value = [
            value.get("start", value.get("start_offset")),
            value.get("end", value.get("end_offset")),
            next((value[name] for name in names if name in value), None),
        ]
    if not isinstance(value, list) or len(value) != 3:
        return None
    start, end, label = value
    if isinstance(label, list) and len(label) == 1:
        label = label[0]
    # No isinstance: true is no position.
    are_positions = type(start) is int and type(end) is int
    if not are_positions or not is_label(label):
        return None
    return LabeledSpan(start, end, label)


def parse_span_of_text(value: object, text: str, place: str) -> LabeledSpan:
    """Returns a span of a text.

    Args:
        value: the JSON value of the span.
        text: the text that should contain the span.
        place: place of the text, for messages.

    Raises:
        ValueError: the value is not a span, the span ends outside of the
            text, or the value contains another text than the text has there.
    """
    span = parse_span(value)
    start, end, _ = span or (0, 0, "")
    span_text = value.get("text") if isinstance(value, dict) else None
    words = None
    if isinstance(span_text, str):
        # Label Studio changes white space in the texts of spans.
        words = span_text.replace("\\n", "\n").split()
    marked = text[start:end]
    is_inside = 0 <= start < end <= len(text)
    if span is None or not is_inside or words not in (None, marked.split()):
        raise ValueError(
            f"{place}: the span {repr(value)[:120]} does not fit the text of "
            f"{len(text)} characters, {text[:80]!r}, where it is {marked!r}. "
            'A span is [start, end, label] or {"start", "end", "label"}. '
            "Positions count code points, and the end is exclusive"
        )
    return span


def describe_span(span: LabeledSpan, text: str) -> str:
    """Returns the values of a span and the part of the text in it."""
    return f"{[*span]} {text[span.start : span.end]!r}"
