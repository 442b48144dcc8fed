"""Converts the tasks of Label Studio to rows with a text and spans.

Label Studio writes spans as the results of people who annotated a text:

    {"data": {"text": "Ann left"}, "annotations": [{"result": [
        {"value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}

A task has an annotation of each person who worked on it. A result of an
annotation is a span, or something else, such as the class of the text.
"""

from typing import TypedDict, TypeGuard

from data.ner.labeled_spans import parse_span
from data.tables.column_names import SPAN_NAMES
from files.json_files import JsonObject


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
    spans = [*map(_list_spans, annotations)]
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


def _list_spans(annotation: _Annotation) -> list[JsonObject]:
    """Returns the spans of Label Studio's annotation, as it writes them."""
    # Skip results of other kinds, such as a text's class.
    return [
        result["value"]
        for result in annotation.get("result") or []
        if {"labels", "hypertextlabels"} & result.get("value", {}).keys()
    ]
