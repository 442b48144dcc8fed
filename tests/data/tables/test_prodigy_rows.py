"""The rows of tables that an annotator decided about in Prodigy."""

import pytest

from data.tables.prodigy_rows import read_accepted_rows
from data.tables.tables import TableRow


def create_row(number, cells):
    return TableRow(number, number, f"a.jsonl, line {number}", cells)


def decided(*answers):
    return [
        create_row(number, {"answer": answer})
        for number, answer in enumerate(answers)
    ]


@pytest.mark.parametrize(
    ("rows", "named", "kept"),
    [
        (decided("accept", "reject", "accept", "ignore"), [], [0, 2]),
        (decided("reject", "ignore"), [], []),
        (decided("accept", "reject", "maybe"), [], [0, 1, 2]),
        (decided("accept", None), [], [0, 1]),
        (decided("", "reject", None, "accept"), [], [0, 2, 3]),
        (decided("accept", "reject"), ["answer"], [0, 1]),
        ([create_row(0, {"text": "a"})], [], [0]),
        ([], [], []),
    ],
)
def test_only_accepted_rows_of_prodigy_are_used(rows, named, kept, caplog):
    accepted = read_accepted_rows("a.jsonl", iter(rows), named)
    assert [row.row_number for row in accepted] == kept
    left_out = len(rows) - len(kept)
    assert (f"a.jsonl: {left_out} rows left out" in caplog.text) == (
        left_out > 0
    )


def test_a_column_of_other_answers_is_not_read_ahead():
    def rows():
        yield from decided("accept", "Paris")
        raise AssertionError("the third row is read")

    accepted = read_accepted_rows("a.jsonl", rows())
    assert [next(accepted).row_number for _ in range(2)] == [0, 1]
