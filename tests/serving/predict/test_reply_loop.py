"""Rows of files: batches of similar length, errors, memory, and signals."""

import contextlib
import json
import signal

import pytest

from serving.engines import EngineError
from serving.predict.input_rows import InputRow
from serving.predict.reply_loop import RowOptions, reply_to_rows
from serving.text_tasks.request_fields import RequestField
from serving.text_tasks.text_task import EncodedRequest, TextTask
from tests.support import script_runner
from tests.support.serving.stub_engines import (
    PARSE_NUMBER_TASK,
    create_export_stub,
)


class Asked:
    """A task without a network, which notes what it is asked.

    Attributes:
        lengths: the length of each text, in the order in which it is encoded.
        batches: the number of texts in each batch.
    """

    def __init__(self):
        self.lengths = []
        self.batches = []
        self._text_task = TextTask(
            "size",
            self._encode,
            lambda loaded_export, text, *_: {"size": len(text)},
            [RequestField("text")],
        )

    def _encode(self, loaded_export, request):
        self.lengths.append(len(request["text"]))
        return EncodedRequest([], request["text"])

    def _run_all(self, inputs, limits):
        self.batches.append(len(inputs))
        return [{key: [] for key in inputs}]

    def answer(self, texts, **row_options):
        """Returns the lists of rows for texts."""
        input_rows = (
            InputRow(number, {"text": text}, cells={"id": number})
            for number, text in texts
        )
        replies = reply_to_rows(
            create_export_stub(self._run_all),
            self._text_task,
            input_rows,
            RowOptions(**row_options),
        )
        return [*replies]


# (number of a row, text), whose lengths go up and down. 4096 rows of a file are
# sorted at a time.
TEXTS = [*enumerate("x" * (1 + number * 37 % 100) for number in range(9000))]


def test_rows_of_a_file_keep_their_order():
    result = Asked().answer(TEXTS, sorts_by_length=True, batch_size=8)
    assert [len(rows) for rows in result] == [4096, 4096, 808]
    cells = [row.cells for rows in result for row in rows]
    assert cells == [
        {"id": number, "size": len(text)} for number, text in TEXTS
    ]


def test_texts_of_a_file_are_computed_the_longest_first():
    asked = Asked()
    asked.answer(TEXTS, sorts_by_length=True, batch_size=8)
    for first in (0, 4096, 8192):
        part = asked.lengths[first : first + 4096]
        assert part == sorted(part, reverse=True)


def test_rows_of_a_pipe_are_answered_as_they_come():
    asked = Asked()
    result = asked.answer(TEXTS[:3], batch_size=1)
    assert [len(rows) for rows in result] == asked.batches == [1, 1, 1]
    assert asked.lengths == [len(text) for _, text in TEXTS[:3]]


def test_long_texts_do_not_fill_the_memory():
    """At most a text more than 8,388,608 characters are held at a time."""
    texts = [*enumerate(["x" * 5_000_000] * 5)]
    result = Asked().answer(texts, sorts_by_length=True)
    assert [len(rows) for rows in result] == [2, 2, 1]


@pytest.fixture
def rows_with_odd_numbers():
    """The output rows of four texts, of which two are numbers to refuse."""
    batch = [
        InputRow(number, {"text": text}, cells={"id": number, "line": "a"})
        for number, text in enumerate(["1.5", "nan", "-inf", "2"], start=1)
    ]

    def run_all(inputs, limits):
        if len(inputs) > 1:
            raise EngineError("out of memory")
        return [{key: [] for key in inputs}]

    (rows,) = reply_to_rows(
        create_export_stub(run_all),
        PARSE_NUMBER_TASK,
        iter(batch),
        RowOptions(),
    )
    return [row.cells for row in rows]


def test_a_reply_that_is_not_finite_is_an_error_of_its_row(
    rows_with_odd_numbers,
):
    scores = [cells.get("score") for cells in rows_with_odd_numbers]
    assert scores == [1.5, None, None, 2]
    for cells in rows_with_odd_numbers[1:3]:
        assert "finite" in cells["error"]


def test_an_error_keeps_the_columns_of_its_row(rows_with_odd_numbers):
    for number, cells in enumerate(rows_with_odd_numbers[1:3], start=2):
        assert cells["id"] == number
        assert cells["line"] == "a"
        # The input has a column of the name of this field.
        assert cells["predicted_line"] == number


def test_an_error_of_the_code_is_no_error_of_a_row():
    loaded_export = create_export_stub(
        lambda inputs, limits: [{number: [] for number in inputs}]
    )
    input_rows = iter([InputRow(1, {"text": "no number"})])
    # Not a ValueError, which predict.py would print without its traceback.
    with pytest.raises(RuntimeError, match=r"score.*'no number'"):
        [
            *reply_to_rows(
                loaded_export, PARSE_NUMBER_TASK, input_rows, RowOptions()
            )
        ]


def test_a_column_that_is_nested_too_deeply_is_an_error_of_its_row():
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    rows = [{"text": "a"}, {"text": "b", "x": deep}]
    input_rows = (
        InputRow(number, {"text": "1.5"}, None, "", row)
        for number, row in enumerate(rows, start=1)
    )
    loaded_export = create_export_stub(
        lambda inputs, limits: [{number: [] for number in inputs}]
    )
    (rows,) = reply_to_rows(
        loaded_export, PARSE_NUMBER_TASK, input_rows, RowOptions()
    )
    first, second = (row.cells for row in rows)
    assert first["text"] == "a"
    assert "error" not in first
    assert second["line"] == 2
    assert "nested" in second["error"]


@pytest.fixture
def started_predict(tmp_path, export_folders):
    """(output) -> a running predict.py that has told of its first replies."""
    line = json.dumps({"id": 1, "text_a": "The harbor light is on. " * 3})
    (tmp_path / "in.jsonl").write_text(f"{line}\n" * 200_000)

    @contextlib.contextmanager
    def start(name):
        with script_runner.start(
            "predict.py",
            tmp_path,
            model=export_folders["classifier"],
            input_file="in.jsonl",
            output_file=name,
        ) as script:
            script.wait_until(lambda: "Predicting row" in script.stderr())
            yield script

    return start


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGTERM, "out.jsonl"),
        (signal.SIGTERM, "out.npy"),
        (signal.SIGINT, "out.csv.gz"),
    ],
)
def test_a_signal_leaves_no_partial_file(
    number, name, tmp_path, started_predict
):
    with started_predict(name) as script:
        script.send(number)
        done = script.finish()
    assert done.status == 128 + number
    last_line = done.stderr.splitlines()[-1]
    start, _, end = last_line.partition(" rows")
    assert start.startswith(f"error: stopped by {number.name} after ")
    assert int(start.rpartition(" ")[2]) > 0
    assert end == "; nothing was written"
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
