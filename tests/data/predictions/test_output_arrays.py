"""Answers as an array of NumPy."""

import io
import os
import sys

import numpy as np
import pytest

from data.predictions.output_arrays import write_npy
from data.predictions.output_rows import OutputRow, RowStatus
from tests.support import fresh_process

FAILED = OutputRow({"line": 1, "error": "x"}, RowStatus.FAILED)


def write_array(*answers):
    """Returns the array that is written to a pipe for answers."""
    rows = [
        answer if answer is FAILED else OutputRow(answer) for answer in answers
    ]
    source, target = os.pipe()
    with open(target, "wb") as file:
        write_npy([rows], file)
    with open(source, "rb") as file:
        return np.load(io.BytesIO(file.read()))


def test_a_row_without_an_answer_is_nan_in_an_array():
    result = write_array(FAILED, {"value": 2.5}, FAILED, {"value": -1})
    expected = np.array([np.nan, 2.5, np.nan, -1], np.float32)
    np.testing.assert_equal(result, expected)
    assert np.isnan(write_array(FAILED, FAILED)).tolist() == [True, True]


REPLY = {"pooled": [1], "mean": [1, 2], "tokens": ["a"]}


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [(REPLY, [1, 2]), ({"p": {"x": 1, "y": 0.5}}, [1, 0.5])],
)
def test_an_array_holds_the_usual_field_of_numbers(answer, numbers):
    assert write_array(answer).tolist() == [numbers]


def test_no_rows_are_an_empty_array():
    assert write_array().shape == (0,)


def test_a_field_that_changes_its_shape_is_named():
    with pytest.raises(ValueError, match=r"'mean'.*shape"):
        write_array(REPLY, {"mean": [1, 2, 3]})


def test_answers_without_numbers_ask_for_a_field():
    with pytest.raises(ValueError, match="--output_fields"):
        write_array({"answer": "a", "start": 1})


_WRITE_ARRAY = """
import sys
from data.predictions import output_rows, output_writer

def read(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) // 1024

before = read("VmRSS")
row = output_rows.OutputRow({"mean": [0.5] * 1024})
batches = ([row] for _ in range(50_000))
output_writer.write_output(sys.argv[1], "npy", batches)
print(read("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is in /proc")
@pytest.mark.parametrize("name", ["out.npy", "out.npy.gz"])
def test_an_array_needs_no_memory_for_its_rows(tmp_path, name):
    done = fresh_process.run("-c", _WRITE_ARRAY, tmp_path / name).check()
    # The array has 195 MiB.
    assert int(done.stdout) < 60
    if name == "out.npy":
        array = np.load(tmp_path / name, mmap_mode="r")
        assert array.shape == (50_000, 1024)
        assert array[-1, -1] == 0.5
