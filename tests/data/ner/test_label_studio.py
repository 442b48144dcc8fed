"""Tasks of a Label Studio export become rows with a text and spans.

test_annotation_files.py and test_annotated_rows.py read such tasks from files.
"""

import pytest

from data.ner.label_studio import is_label_studio_task, parse_label_studio_task

TEXT = "Anna left Oslo."
ANNA = {"start": 0, "end": 4, "labels": ["PER"]}
OSLO = {"start": 10, "end": 14, "labels": ["LOC"]}


def annotation_of(*spans, **settings):
    """Returns the annotation of one person."""
    return {"result": [{"value": span} for span in spans], **settings}


def task_of(*annotations, **data):
    """Returns the task of a text that these people annotated."""
    return {"data": {"text": TEXT, **data}, "annotations": [*annotations]}


@pytest.mark.parametrize(
    "row",
    [
        task_of(annotation_of(ANNA)),
        {"data": {"text": TEXT}},
        {"text": TEXT, "data": {"id": 7}, "annotations": []},
    ],
)
def test_a_row_is_a_task_by_its_annotations_or_the_text_in_its_data(row):
    assert is_label_studio_task(row)


@pytest.mark.parametrize(
    "row",
    [
        {"text": TEXT, "data": {"id": 7}},
        {"text": TEXT, "entities": []},
        {"data": "a day"},
        {},
    ],
)
def test_a_label_studio_task_has_an_object_as_its_data(row):
    assert not is_label_studio_task(row)


def test_the_spans_become_entities():
    row = parse_label_studio_task(task_of(annotation_of(ANNA, OSLO)), "line 1")
    assert row == {"text": TEXT, "entities": [ANNA, OSLO]}


def test_a_text_that_nobody_annotated_has_no_entities():
    assert parse_label_studio_task(task_of(), "line 1")["entities"] is None


def test_a_cancelled_annotation_is_left_out():
    task = task_of(annotation_of(ANNA, was_cancelled=True))
    assert parse_label_studio_task(task, "line 1")["entities"] is None


def test_a_result_of_another_kind_is_left_out():
    news = {"choices": ["news"]}
    row = parse_label_studio_task(task_of(annotation_of(news, ANNA)), "line 1")
    assert row["entities"] == [ANNA]


def test_annotations_of_equal_spans_in_another_order_agree():
    task = task_of(annotation_of(ANNA, OSLO), annotation_of(OSLO, ANNA))
    assert parse_label_studio_task(task, "line 1")["entities"] == [ANNA, OSLO]


def test_annotations_of_different_spans_are_an_error():
    task = task_of(annotation_of(ANNA), annotation_of(OSLO))
    with pytest.raises(
        ValueError, match=r"line 1: the 2 annotations .* differ"
    ):
        parse_label_studio_task(task, "line 1")


def test_an_annotation_marked_as_ground_truth_is_preferred():
    task = task_of(annotation_of(ANNA), annotation_of(OSLO, ground_truth=True))
    assert parse_label_studio_task(task, "line 1")["entities"] == [OSLO]


def test_the_answers_of_a_model_in_the_data_are_left_out():
    task = task_of(annotation_of(OSLO), label=[[0, 4, "PER"]])
    assert "label" not in parse_label_studio_task(task, "line 1")


def test_the_only_text_of_the_data_may_have_any_name():
    task = {"data": {"review": TEXT, "id": 7}, "annotations": []}
    assert parse_label_studio_task(task, "line 1")["text"] == TEXT
