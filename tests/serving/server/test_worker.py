"""The process of a served version: what it computes, and in which parts."""

import json

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

from serving import engines
from serving.engines.saved_model import SavedModel
from serving.server.limits import Limits
from serving.server.protocol import RestError
from serving.server.signatures import Key
from serving.server.worker import Version
from tests.serving.conftest import LENGTH
from tests.serving.server.server_process import running


def ids(num_rows, length=32):
    names = ("input_ids", "input_mask", "segment_ids")
    return {name: np.ones([num_rows, length], np.int32) for name in names}


@pytest.fixture(scope="module")
def asked(export_folder):
    """(a version, the shapes that its network computed so far)."""
    shapes, run = [], SavedModel.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            SavedModel,
            "run",
            lambda self, features: (
                shapes.append(features["input_ids"].shape)
                or run(self, features)
            ),
        )
        yield Version(export_folder / "pretraining", Limits()), shapes


def test_each_length_is_computed_before_a_version_is_ready(asked):
    version, shapes = asked
    assert [(1, 8), (1, 16), (1, LENGTH)] == shapes[:3]
    assert {length for _, length in shapes} == {8, 16, LENGTH}


def test_a_large_request_is_computed_in_parts(asked):
    version, shapes = asked
    del shapes[:]
    calls = [ids(50), ids(30)]
    first, last = version.run(Key("serve", ((32,),)), calls)
    assert shapes == [(32, 32), (32, 32), (16, 32)]
    assert engines.BUDGET == 32 * 32
    assert [len(one["masked_lm_probabilities"]) for one in (first, last)] == [
        50,
        30,
    ]
    (expected,) = version.run(Key("serve", ((32,),)), [ids(1)])
    for name, value in expected.items():
        np.testing.assert_allclose(last[name][-1:], value, atol=1e-5)


TOO_LARGE = {
    "serve": ids(128),
    "tokenize": dict.fromkeys(
        ("text_a", "text_b"), np.array([b"a " * 10] * 200_000, object)
    ),
}


def test_choices_are_computed_as_by_the_graph(export_folder):
    version = Version(export_folder / "multiple_choice", Limits())
    rows = {k: np.stack([v, v], 1) for k, v in ids(3, 4).items()}
    rows["input_ids"][1, 0] = 7
    (found,) = version.run(Key("serve", ((2, 4),) * 3), [rows])
    expected = version.model.engine.run_signature("serve", rows)[
        "probabilities"
    ]
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e-5)
    assert np.ptp(expected[:, 0]) > 0


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_reply_too_large_is_not_computed(asked, name, monkeypatch):
    version, shapes = asked
    del shapes[:]
    monkeypatch.setattr(version, "_max_wordpieces", 1 << 30)
    monkeypatch.setattr(
        SavedModel, "run_signature", lambda *_: pytest.fail("computed")
    )
    with pytest.raises(RestError, match="would contain up to") as caught:
        version.run(Key(name, ()), [TOO_LARGE[name]])
    assert caught.value.status == 413
    assert not shapes


@pytest.mark.slow
def test_memory_is_bounded_by_the_request_and_a_batch(tmp_path, export_folder):
    """A batch of 2,048 WordPieces, and what a reply may hold at most."""
    models = {"m": export_folder / "pretraining"}
    with running(tmp_path, models) as server:

        def ask(body):
            data = json.dumps(body)
            before = server.script.memory()
            status, _, _ = server.ask("POST", "/v1/models/m:predict", data)
            return status, server.script.memory() - before - len(data) / 1e4

        columns = {key: value.tolist() for key, value in ids(128).items()}
        masks = {"signature_name": "fill_mask", "instances": ["[MASK] " * 22]}
        assert ask(masks)[0] == 200
        status, growth = ask(masks | {"instances": masks["instances"] * 128})
        assert status == 200 and growth < 100
        status, growth = ask({"inputs": columns})
        assert status == 413 and growth < 10
        columns = {key: value[:80] for key, value in columns.items()}
        status, growth = ask({"inputs": columns})
        assert status == 200 and growth < 200
        # Some of it is kept, but it does not add up.
        status, growth = ask({"inputs": columns})
        assert status == 200 and growth < 60
