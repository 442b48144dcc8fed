"""The task that ranks passages."""

import functools
import json

import numpy as np
import pytest

import modeling
import serving
from serving import classifier
from serving.server import protocol
from serving.server.limits import Limits
from serving.server.protocol import RestError
from serving.server.signatures import Key
from serving.server.worker import Version
from tests.golden import ROOT
from tests.serving.conftest import (
    LENGTH,
    TOKENIZER,
    create_model,
    create_options,
)
from tests.serving.test_engines import PREDICT, run

QUERY = "Who keeps the light?"
PASSAGES = ["A storm!", "Anna keeps the light.", "The boat " * 20, ""]


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """{kind: folder of a LiteRT export}."""
    folder = tmp_path_factory.mktemp("lists")
    options = create_options("litert")
    ranker = create_model(modeling.BertClassifier, 1)
    classifier.export_classifier(
        folder / "ranker", ranker, None, options, "regression"
    )
    pair = create_model(modeling.BertClassifier, 2)
    classifier.export_classifier(folder / "pair", pair, ["0", "1"], options)
    return {name: folder / name for name in ("ranker", "pair")}


@pytest.fixture(scope="module")
def load(exports):
    """(kind) -> the model."""
    return functools.cache(lambda kind: serving.load(exports[kind]))


def test_passages_are_ranked_by_what_the_network_says_of_each_pair(load):
    bert = load("ranker")
    assert bert.tasks == ["classify", "rerank", "tokenize"]
    found = bert.rerank(QUERY, PASSAGES)
    values = [bert.classify(QUERY, text)["value"] for text in PASSAGES]
    order = np.argsort(values)[::-1].tolist()
    assert [each["index"] for each in found["ranking"]] == order
    assert [each["score"] for each in found["ranking"]] == pytest.approx(
        sorted(values, reverse=True), abs=1e-5
    )
    pair = TOKENIZER.tokenize(QUERY) + TOKENIZER.tokenize(PASSAGES[2])
    assert found["num_wordpieces_cut"] == len(pair) + 3 - LENGTH
    assert bert.rerank(QUERY, []) == {"ranking": []}
    assert bert.rerank(QUERY, tuple(PASSAGES)) == found


def test_what_cannot_be_asked_is_named(load):
    for call, message in (
        (lambda: load("pair").rerank("a", ["b"]), "rerank"),
        (lambda: load("ranker").rerank("a", "b"), "'passages'"),
        (lambda: load("ranker").rerank(3, ["b"]), "'query'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="passages"):
        load("ranker").rerank("a", [3])


def test_predict_ranks_without_tensorflow(exports, load):
    model = f"--model={exports['ranker']}"
    output = run(PREDICT, model, "--task=rerank", QUERY, *PASSAGES)
    assert json.loads(output) == load("ranker").rerank(QUERY, PASSAGES)


def test_the_server_ranks(exports, load):
    versions = {
        kind: Version(path, Limits(max_wordpieces=200))
        for kind, path in exports.items()
    }

    # In one order, whatever the process.
    assert [*versions["ranker"].description.signatures] == [
        *("serve", "serving_default", "classify", "classify_text"),
        *("rerank", "tokenize"),
    ]

    def ask(kind, signature, **columns):
        inputs = versions[kind].description.signatures[signature].inputs
        arrays = protocol.parse_inputs({"inputs": columns}, inputs)
        (found,) = versions[kind].run(Key(signature, ()), [arrays])
        return found

    def ask_page(**body):
        return versions["ranker"].run(Key("rerank"), [body])

    expected = load("ranker").rerank(QUERY, PASSAGES)
    assert ask_page(query=QUERY, passages=PASSAGES) == [expected]
    queries, lists = ["a", QUERY], [PASSAGES[:2], PASSAGES[2:]]
    found = ask("ranker", "rerank", query=queries, passages=lists)
    for row, (query, many) in enumerate(zip(queries, lists, strict=True)):
        one = load("ranker").rerank(query, many)["ranking"]
        assert [each["index"] for each in one] == [*found["order"][row]]
        best = found["scores"][row, one[0]["index"]]
        assert best == pytest.approx(one[0]["score"], abs=1e-5)
    # Nothing to read but special tokens, a hundred times.
    with pytest.raises(RestError, match="--max_wordpieces") as refused:
        ask_page(query="", passages=[""] * 101)
    assert refused.value.status == 413


def test_the_python_half_of_data_needs_no_tensorflow():
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        for path in sorted((ROOT / "data").rglob("*.py"))
        if "import tensorflow" not in path.read_text()
        and not path.name.endswith("_layer.py")
    ]
    assert len(modules) > 40
    run(f"import {', '.join(modules)}, serving.models, predict")


@pytest.mark.slow
def test_the_server_ranks_by_http(tmp_path, exports, load):
    pytest.importorskip("starlette", reason="needs requirements/serve.txt")
    from tests.serving.server.server_process import running

    with running(tmp_path, exports, max_wordpieces=200) as server:

        def ask(path, **body):
            return server.ask("POST", path, body)[:2]

        expected = load("ranker").rerank(QUERY, PASSAGES)
        request = {"query": QUERY, "passages": PASSAGES}
        found = ask("/api/models/ranker/rerank", **request)
        assert found == (200, expected)
        rows = [request, {"query": "a", "passages": PASSAGES[::-1]}]
        orders = [
            [one["index"] for one in load("ranker").rerank(**row)["ranking"]]
            for row in rows
        ]
        assert orders[0] != orders[1]
        for key, value, replies in (
            ("instances", rows, "predictions"),
            (
                "inputs",
                {k: [row[k] for row in rows] for k in request},
                "outputs",
            ),
        ):
            body = {"signature_name": "rerank", key: value}
            _, found = ask("/v1/models/ranker:predict", **body)
            outputs = found[replies]
            if key == "instances":
                outputs = {"order": [row["order"] for row in outputs]}
            assert outputs["order"] == orders
