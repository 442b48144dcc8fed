"""What is counted, kept and logged of the rows that are answered."""

import pytest

from serving.predict.input_rows import InputRow
from serving.predict.reply_loop import MAX_LOGGED, RowCounter
from serving.text_tasks.asking import Failure

FAILURE = Failure(ValueError("no text"))


def test_the_rows_of_all_batches_are_counted():
    counter = RowCounter()
    counter.add(3)
    counter.add(2)
    assert counter.num_rows == 5


def test_an_error_names_the_place_of_its_row(caplog):
    counter = RowCounter()
    counter.report_failure(InputRow(7, {}, file="a.csv"), FAILURE)
    assert counter.errors == ["a.csv, line 7: no text"]
    assert "a.csv, line 7: no text" in caplog.text


def test_a_reply_without_an_error_is_not_reported():
    counter = RowCounter()
    counter.report_failure(InputRow(1, {}), {"label": "yes"})
    assert counter.errors == []


@pytest.mark.parametrize("logs_errors", [True, False])
def test_only_the_first_errors_are_kept_and_logged(logs_errors, caplog):
    counter = RowCounter(logs_errors=logs_errors)
    for line in range(MAX_LOGGED + 5):
        counter.report_failure(InputRow(line, {}), FAILURE)
    assert len(counter.errors) == MAX_LOGGED
    assert caplog.text.count("no text") == logs_errors * MAX_LOGGED
