"""The rows of tables that an annotator decided about in Prodigy."""

import pytest

from data.tables.prodigy import read_accepted_rows


def decided(*answers):
    return [
        (number, {"answer": answer}) for number, answer in enumerate(answers)
    ]


@pytest.mark.parametrize(
    "rows, named, kept",
    [
        (decided("accept", "reject", "accept", "ignore"), [], [0, 2]),
        (decided("reject", "ignore"), [], []),
        (decided("accept", "reject", "maybe"), [], [0, 1, 2]),
        (decided("accept", None), [], [0, 1]),
        (decided("", "reject", None, "accept"), [], [0, 2, 3]),
        (decided("accept", "reject"), ["answer"], [0, 1]),
        ([(0, {"text": "a"})], [], [0]),
        ([], [], []),
    ],
)
def test_only_accepted_rows_of_prodigy_are_used(rows, named, kept, caplog):
    accepted = read_accepted_rows("a.jsonl", iter(rows), named)
    assert [number for number, _ in accepted] == kept
    left_out = len(rows) - len(kept)
    assert (f"a.jsonl: {left_out} rows left out" in caplog.text) == (
        left_out > 0
    )


def test_a_column_of_other_answers_is_not_read_ahead():
    def rows():
        yield from decided("accept", "Paris")
        raise AssertionError("the third row is read")

    accepted = read_accepted_rows("a.jsonl", rows())
    assert [next(accepted)[0], next(accepted)[0]] == [0, 1]
