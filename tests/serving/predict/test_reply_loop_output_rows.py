"""Rows of the output: columns of the input, then a reply or an error."""

import pytest

from data.predictions.output_rows import RowStatus
from serving.predict.input_rows import InputRow
from serving.predict.reply_loop import FieldCheck, RowOptions, create_row
from serving.text_tasks.asking import Failure
from serving.text_tasks.classify import CLASSIFY

INPUT_ROW = InputRow(3, {"text": "a"}, cells={"id": 7, "label": "old"})


def create_row_of(reply, **row_options):
    """Returns the output row of INPUT_ROW."""
    options = RowOptions(**row_options)
    return create_row(INPUT_ROW, reply, CLASSIFY, options)


def test_fields_of_a_reply_follow_the_columns():
    row = create_row_of({"label": "yes"})
    assert row.cells == {"id": 7, "label": "old", "predicted_label": "yes"}
    assert row.status == RowStatus.PREDICTED


def test_columns_may_be_left_out():
    row = create_row_of({"label": "yes"}, keeps_columns=False)
    assert row.cells == {"label": "yes"}


def test_only_the_chosen_fields_are_kept():
    reply = {"label": "yes", "probabilities": {"yes": 1.0}}
    row = create_row_of(
        reply, output_fields=["probabilities"], keeps_columns=False
    )
    assert row.cells == {"probabilities": {"yes": 1.0}}


def test_a_failure_names_its_line():
    row = create_row_of(Failure(ValueError("no text")))
    assert row.cells["line"] == 3
    assert row.cells["error"] == "no text"
    assert row.status == RowStatus.FAILED


def test_a_row_without_text_has_no_reply():
    row = create_row_of({})
    assert row.cells == {"id": 7, "label": "old"}
    assert row.status == RowStatus.EMPTY


def test_the_first_reply_must_have_the_fields_to_keep():
    field_check = FieldCheck(RowOptions(output_fields=["lable"]))
    # A row without a text and a failure are no replies, and prove nothing.
    field_check.check_first_reply([{}, Failure(ValueError("no text"))])
    with pytest.raises(ValueError, match=r"output_fields=lable.*from label"):
        field_check.check_first_reply([{"label": "yes"}])


def test_later_replies_may_lack_an_optional_field():
    field_check = FieldCheck(RowOptions(output_fields=["label"]))
    field_check.check_first_reply([{"label": "yes"}])
    field_check.check_first_reply([{"value": 1.0}])
