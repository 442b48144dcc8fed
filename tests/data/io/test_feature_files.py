"""Files of vectors: whole and valid, or not there at all."""

import json

import numpy as np
import pytest

from data.io.feature_files import json_writer


def test_a_value_that_is_not_finite_leaves_no_file(tmp_path):
    path = tmp_path / "out.jsonl"
    layers = np.zeros([1, 1, 2], np.float32)
    with pytest.raises(ValueError, match=f"{path}, line 2 would hold NaN"):
        with json_writer(path, [0]) as write:
            write(["a"], layers)
            write(["a"], layers + np.nan)
    assert not list(tmp_path.iterdir())


def test_half_of_a_surrogate_pair_in_a_token(tmp_path):
    path = tmp_path / "out.jsonl"
    with json_writer(path, [0]) as write:
        write(["a\ud800", "\u4e2d"], np.zeros([1, 2, 2], np.float32))
    content = path.read_bytes()
    # ASCII alone, as the original's.
    assert content.isascii()
    tokens = [each["token"] for each in json.loads(content)["features"]]
    assert tokens == ["a\ud800", "\u4e2d"]
