"""Files of vectors: whole and valid, or not there at all."""

import json

import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from data.io import feature_files


def test_a_value_that_is_not_finite_leaves_no_file(tmp_path):
    path = tmp_path / "out.jsonl"
    layers = np.zeros([1, 1, 2], np.float32)
    with pytest.raises(ValueError, match=f"{path}, line 2 would contain NaN"):
        with feature_files.json_writer(path, [0]) as write:
            write(["a"], layers)
            write(["a"], layers + np.nan)
    assert not list(tmp_path.iterdir())


def test_half_of_a_surrogate_pair_in_a_token(tmp_path):
    path = tmp_path / "out.jsonl"
    with feature_files.json_writer(path, [0]) as write:
        write(["a\ud800", "\u4e2d"], np.zeros([1, 2, 2], np.float32))
    content = path.read_bytes()
    # ASCII alone, as the original's.
    assert content.isascii()
    tokens = [each["token"] for each in json.loads(content)["features"]]
    assert tokens == ["a\ud800", "\u4e2d"]


def test_tensorboard_reads_the_projectors_files(tmp_path, monkeypatch):
    monkeypatch.setattr(feature_files, "MAX_POINTS", 5)
    lines = [
        ["[CLS]", "har", "##bor", "[SEP]"],
        ["[CLS]", "a\tb\u2028c", "[SEP]"],
        ["[CLS]", "[SEP]"],
    ]
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=(len(tokens), 3)) for tokens in lines]
    pooled = rng.normal(size=(3, 3))
    with feature_files.projector_writer(tmp_path) as write:
        for each in zip(lines, vectors, pooled, strict=True):
            write(*each)
    config = text_format.Parse(
        (tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig()
    )
    assert [one.tensor_name for one in config.embeddings] == ["lines", "tokens"]
    found = {}
    for one in config.embeddings:
        values = np.loadtxt(tmp_path / one.tensor_path, delimiter="\t")
        names = (tmp_path / one.metadata_path).read_text().split("\n")[:-1]
        found[one.tensor_name] = values, names
    values, names = found["lines"]
    np.testing.assert_allclose(values, pooled, rtol=1e-5)
    assert names == ["harbor", "a b c", "(empty)"]
    values, names = found["tokens"]
    np.testing.assert_allclose(values, np.concatenate(vectors)[:5], rtol=1e-5)
    # A heading, and five points of nine.
    assert names == [
        "token\tline\ttext",
        "[CLS]\t1\tharbor",
        "har\t1\tharbor",
        "##bor\t1\tharbor",
        "[SEP]\t1\tharbor",
        "[CLS]\t2\ta b c",
    ]


@pytest.mark.parametrize("name", ["lines.tsv", "projector_config.pbtxt"])
def test_files_of_others_are_kept(name, tmp_path):
    (tmp_path / name).write_text("mine")
    with (
        pytest.raises(FileExistsError, match=f"{name} already exists"),
        feature_files.projector_writer(tmp_path),
    ):
        pass
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_earlier_files_are_replaced(tmp_path):
    for value in (1.0, 2.0):
        with feature_files.projector_writer(tmp_path) as write:
            write(["[CLS]", "[SEP]"], np.full([2, 1], value), np.array([value]))
        assert np.loadtxt(tmp_path / "lines.tsv") == value
