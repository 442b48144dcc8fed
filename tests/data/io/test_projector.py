"""The projector's files, as TensorBoard's own code reads them."""

import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from data.io import projector


def test_files(tmp_path, monkeypatch):
    monkeypatch.setattr(projector, "MAX_POINTS", 5)
    lines = [
        ["[CLS]", "har", "##bor", "[SEP]"],
        ["[CLS]", "a\tb\u2028c", "[SEP]"],
        ["[CLS]", "[SEP]"],
    ]
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=(len(tokens), 3)) for tokens in lines]
    pooled = rng.normal(size=(3, 3))
    with projector.projector_writer(tmp_path) as write:
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
        projector.projector_writer(tmp_path),
    ):
        pass
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_earlier_files_are_replaced(tmp_path):
    for value in (1.0, 2.0):
        with projector.projector_writer(tmp_path) as write:
            write(["[CLS]", "[SEP]"], np.full([2, 1], value), np.array([value]))
        assert np.loadtxt(tmp_path / "lines.tsv") == value
