"""Tasks over a text and a list of others, and scores of sentences."""

import functools
import json

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

import modeling
import serving
from serving import classifier, pretraining
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
NLI = ["contradiction", "Entailment", "neutral"]
LABELS = ["sea", "land", "light"]


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """{kind: (folder of a LiteRT export, its network)}."""
    folder = tmp_path_factory.mktemp("lists")
    options = create_options("litert")
    ranker = create_model(modeling.BertClassifier, 1)
    classifier.export_classifier(
        folder / "ranker", ranker, None, options, "regression"
    )
    nli = create_model(modeling.BertClassifier, len(NLI))
    classifier.export_classifier(folder / "nli", nli, NLI, options)
    words = create_model(modeling.BertPretrainer)
    pretraining.export_pretrainer(folder / "words", words, options)
    models = {"ranker": ranker, "nli": nli, "words": words}
    return {name: (folder / name, models[name]) for name in models}


@pytest.fixture(scope="module")
def load(exports):
    """(kind) -> the model."""
    return functools.cache(lambda kind: serving.load(exports[kind][0]))


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


def test_a_label_is_as_likely_as_its_sentence_is_entailed(load):
    bert = load("nli")
    assert bert.tasks == ["classify", "zero-shot", "tokenize"]
    about = "It is of the {}!"
    found = bert.zero_shot([PASSAGES[1], ""], LABELS, about)
    for text, answer in zip([PASSAGES[1], ""], found, strict=True):
        pairs = bert.classify(
            [text] * 3, [f"It is of the {x}!" for x in LABELS]
        )
        expected = [each["probabilities"]["Entailment"] for each in pairs]
        assert [*answer["entailment"]] == LABELS
        assert [*answer["entailment"].values()] == pytest.approx(expected)
        shares = np.array(expected) / sum(expected)
        assert [*answer["probabilities"].values()] == pytest.approx(
            shares.tolist(), abs=1e-5
        )
        assert answer["label"] == LABELS[shares.argmax()]


def test_a_score_is_of_each_wordpiece_behind_a_mask(load, exports):
    text = "The boat sails. " * 9
    found = load("words").score(text, tokens=True)
    tokens = TOKENIZER.tokenize(text)
    assert found["tokens"] == tokens[: LENGTH - 2]
    assert found["num_wordpieces_cut"] == len(tokens) + 2 - LENGTH
    ids = TOKENIZER.convert_tokens_to_ids(["[CLS]", *found["tokens"], "[SEP]"])
    places = np.arange(1, LENGTH - 1)
    masked = np.tile(np.int32(ids), (len(places), 1))
    right = masked[0, places]
    masked[np.arange(len(places)), places] = TOKENIZER.vocab["[MASK]"]
    outputs = exports["words"][1](
        {
            "input_ids": masked,
            "masked_lm_positions": tf.constant(places[:, None]),
        }
    )
    logs = special.log_softmax(outputs["masked_lm_logits"][:, 0], axis=-1)
    logs = logs[np.arange(len(places)), right]
    assert found["log_probabilities"] == pytest.approx(logs, abs=1e-3)
    assert found["score"] == pytest.approx(logs.sum(), rel=1e-4)
    assert found["perplexity"] == pytest.approx(np.exp(-logs.mean()), rel=1e-4)


def test_what_cannot_be_asked_is_named(load):
    for call, message in (
        (lambda: load("nli").rerank("a", ["b"]), "does not support rerank"),
        (lambda: load("ranker").zero_shot("a", ["b"]), "not support zero-shot"),
        (
            lambda: load("nli").zero_shot("a", []),
            "'labels' must be one or more",
        ),
        (lambda: load("nli").zero_shot("a", ["b", "b"]), "different labels"),
        (lambda: load("nli").zero_shot("a", "bc"), "'labels' must be a list"),
        (lambda: load("ranker").rerank("a", "b"), "'passages' must be a list"),
        (lambda: load("ranker").rerank(3, ["b"]), "'query' must be a string"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="passages must be a string or a list"):
        load("ranker").rerank("a", [3])


def test_predict_answers_them_without_tensorflow(exports, load):
    requests = [{"text": PASSAGES[1]}, {"text": "a", "labels": LABELS[:2]}]
    lines = "".join(json.dumps(each) + "\n" for each in requests)
    about = ["--hypothesis=A {}.", f"--labels={','.join(LABELS)}"]
    nli, ranker, words = map(load, ("nli", "ranker", "words"))
    for kind, arguments, expected in (
        (
            "ranker",
            ["--task=rerank", QUERY, *PASSAGES],
            [ranker.rerank(QUERY, PASSAGES)],
        ),
        (
            "nli",
            ["--task=zero-shot", *about],
            [
                nli.zero_shot(PASSAGES[1], LABELS, "A {}."),
                nli.zero_shot("a", LABELS[:2], "A {}."),
            ],
        ),
        (
            "words",
            ["--task=score", "--tokens", "The boat."],
            [words.score("The boat.", tokens=True)],
        ),
    ):
        model = f"--model={exports[kind][0]}"
        output = run(PREDICT, model, *arguments, text=lines)
        assert [*map(json.loads, output.splitlines())] == expected


def test_the_server_answers_them(exports, load):
    versions = {
        kind: Version(path, Limits(max_wordpieces=200))
        for kind, (path, _) in exports.items()
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
    with pytest.raises(RestError, match="labels must have shape"):
        ask("nli", "zero_shot", text=["a"], labels=["b"])
    found = ask("nli", "zero_shot", text=["a", ""], labels=[LABELS] * 2)
    both = load("nli").zero_shot(["a", ""], LABELS)
    assert [*map(bytes.decode, found["label"])] == [x["label"] for x in both]
    found = ask("words", "score", text=["The boat.", "a"])
    both = load("words").score(["The boat.", "a"])
    assert found["score"] == pytest.approx([one["score"] for one in both])
    assert [*found["num_wordpieces"]] == [3, 1]
    for call in (
        # A text of 20 WordPieces is read 20 times.
        lambda: ask("words", "score", text=["a " * 20]),
        # Nothing to read but special tokens, a hundred times.
        lambda: ask_page(query="", passages=[""] * 101),
    ):
        with pytest.raises(RestError, match="--max_wordpieces") as refused:
            call()
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
def test_the_server_answers_them_by_http(tmp_path, exports, load):
    pytest.importorskip("starlette", reason="needs requirements/serve.txt")
    from tests.serving.server.server_process import running

    models = {name: exports[name][0] for name in exports}
    with running(tmp_path, models, max_wordpieces=200) as server:

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
        # A text of 20 WordPieces is read 20 times.
        body = {"signature_name": "score", "inputs": {"text": ["a " * 20]}}
        status, refusal = ask("/v1/models/words:predict", **body)
        assert status == 413 and "--max_wordpieces" in refusal["error"]
        body = {"text": ["a"], "labels": ["b"]}
        body = {"signature_name": "zero_shot", "inputs": body}
        assert ask("/v1/models/nli:predict", **body)[0] == 400
