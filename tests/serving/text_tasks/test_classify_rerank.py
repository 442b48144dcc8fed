"""The task that ranks passages by a classifier."""

import asyncio
import functools
import json

import numpy as np
import pytest

import exporting
import modeling
import serving
from tests.support.checkpoints import assert_same
from tests.support.serving import asgi
from tests.support.serving.engines import PREDICT, run_predict
from tests.support.serving.exports import (
    LENGTH,
    TOKENIZER,
    create_model,
    create_options,
)

QUERY = "Who keeps the light?"
PASSAGES = ["A storm!", "Anna keeps the light.", "The boat " * 20, ""]


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """{kind: folder of a LiteRT export}."""
    folder = tmp_path_factory.mktemp("lists")
    options = create_options("litert")
    ranker = create_model(modeling.BertClassifier, 1)
    settings = {"output_mode": "regression"}
    exporting.export(folder / "ranker", ranker, settings, options)
    pair = create_model(modeling.BertClassifier, 2)
    exporting.export(folder / "pair", pair, {"labels": ["0", "1"]}, options)
    return {name: folder / name for name in ("ranker", "pair")}


@pytest.fixture(scope="module")
def load_export(exports):
    """(kind) -> the model."""
    return functools.cache(lambda kind: serving.load(exports[kind]))


def test_passages_are_ranked_by_the_output_of_each_pair(load_export):
    bert = load_export("ranker")
    result = bert.rerank(QUERY, PASSAGES)
    values = [bert.classify(QUERY, text)["value"] for text in PASSAGES]
    order = np.argsort(values)[::-1].tolist()
    assert [entry["index"] for entry in result["ranking"]] == order
    assert [entry["score"] for entry in result["ranking"]] == pytest.approx(
        sorted(values, reverse=True), abs=1e-5
    )


def test_a_regression_model_of_pairs_can_rerank(load_export):
    assert load_export("ranker").text_task_names == [
        "classify",
        "rerank",
        "tokenize",
    ]


def test_cut_wordpieces_of_the_longest_passage_are_counted(load_export):
    result = load_export("ranker").rerank(QUERY, PASSAGES)
    pair = TOKENIZER.tokenize(QUERY) + TOKENIZER.tokenize(PASSAGES[2])
    assert result["num_wordpieces_cut"] == len(pair) + 3 - LENGTH


def test_no_passages_have_an_empty_ranking(load_export):
    assert load_export("ranker").rerank(QUERY, []) == {"ranking": []}


def test_each_of_several_queries_has_its_ranking(load_export):
    bert = load_export("ranker")
    first, _ = bert.rerank([QUERY, "a"], PASSAGES)
    assert_same(first, bert.rerank(QUERY, PASSAGES))


def test_two_labels_rank_by_the_probability_of_the_second(load_export):
    bert = load_export("pair")
    result = bert.rerank(QUERY, PASSAGES)["ranking"]
    for entry in result:
        reply = bert.classify(QUERY, PASSAGES[entry["index"]])
        expected = reply["probabilities"]["1"]
        assert entry["score"] == pytest.approx(expected, abs=1e-5)


def test_predict_ranks_without_tensorflow(exports, load_export):
    model = f"--model={exports['ranker']}"
    output = run_predict(PREDICT, model, "--task=rerank", QUERY, *PASSAGES)
    assert json.loads(output) == load_export("ranker").rerank(QUERY, PASSAGES)


def test_each_passage_counts_as_a_text(exports):
    pytest.importorskip("fastapi", reason="needs requirements/serve.txt")
    from serving.engines import EngineOptions
    from serving.http import app
    from serving.http.serve_config import LimitOptions
    from serving.http.server_state import ExportToServe

    export = ExportToServe(exports["ranker"], EngineOptions())
    few = app.ServerApp.create({"m": export}, limits=LimitOptions(max_texts=7))
    few.state.load_models()

    body = {"query": ["a", "b"], "passages": PASSAGES}
    asked = asgi.post(few, "/api/models/m/rerank", body)
    status, reply = asyncio.run(asked)
    assert status == 413
    assert "8 texts" in reply["error"]
