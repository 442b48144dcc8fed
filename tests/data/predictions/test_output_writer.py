"""Where answers are written: standard output, and files that are complete."""

import io
import subprocess
import sys

import numpy as np
import pytest

from data.predictions import output_writer
from data.predictions.output_rows import OutputRow
from tests.support.paths import ROOT
from tests.support.waiting import TIMEOUT


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_an_array_goes_to_standard_output(tmp_path, mode):
    """Also behind what a shell's >> keeps."""
    code = (
        "from data.predictions import output_rows, output_writer;"
        "answers = [{'value': 1.5}, {}, {'value': 2}];"
        "rows = [output_rows.OutputRow(answer) for answer in answers];"
        "output_writer.write_output(None, 'npy', [rows])"
    )
    path = tmp_path / "out.npy"
    path.write_bytes(b"kept")
    with path.open(mode) as file:
        subprocess.run(
            [sys.executable, "-c", code],
            stdout=file,
            check=True,
            cwd=ROOT,
            timeout=TIMEOUT,
        )
    kept = b"kept" if mode == "ab" else b""
    result = path.read_bytes().removeprefix(b"kept")
    assert path.read_bytes() == kept + result
    array = np.load(io.BytesIO(result))
    np.testing.assert_equal(array, np.array([1.5, np.nan, 2], np.float32))


def test_write_output_calls_back_before_the_file_gets_its_name(tmp_path):
    """predict.py ignores signals while the file gets its name."""
    path = tmp_path / "out.jsonl"
    existed = []
    output_writer.write_output(
        str(path),
        "jsonl",
        [[OutputRow({"value": 1})]],
        lambda: existed.append(path.exists()),
    )
    assert existed == [False]
    assert path.exists()
