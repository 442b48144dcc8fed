"""Reads the spans of named entities, whichever annotation tool wrote them.

A span is [start, end, label], or an object with these values. Label Studio
writes them as the results of people who annotated a text:

    {"data": {"text": "Ann left"}, "annotations": [{"result": [
        {"value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}

A task has an annotation of each person who worked on it. A result of an
annotation is a span, or something else, such as the class of the text.
"""

from typing import NamedTuple, TypedDict, TypeGuard

from data.tables.column_names import SPAN_NAMES
from files.json_files import JsonObject
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
            text, or the value states another text than the text has there.
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
