"""Texts of many windows asked of exports, against the Python path."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

import modeling
import serving
from data.classification.label_decoding import (
    LabelDecoder,
    pool,
    to_probabilities,
)
from data.squad import answer_decoding
from data.squad.passage_windows import create_features
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import DecodingOptions
from data.text.token_windows import cut_spans
from serving import engines
from serving.engines import Input
from tests.support.exports import (
    CASED_TOKENIZER,
    DECODING,
    FORMAT,
    LABELS,
    LENGTH,
    QUESTIONS,
    SMALL,
    TEXTS,
    TOKENIZER,
    WINDOWS,
    create_model,
    create_options,
)
from tests.support.squad_answers import check_bytes

pytestmark = pytest.mark.slow


def call(model, features):
    """Returns a model's outputs for a list of features."""
    return model(
        {
            name: tf.constant(
                [getattr(feature, name) for feature in features], tf.int32
            )
            for name in engines.INPUTS
        }
    )


@pytest.fixture(scope="module")
def searched(exports):
    """(answers, their n-best lists, null odds) of the search in Python."""
    served = exports["squad"]
    inputs = served.requests[0][1]
    pairs = zip(inputs["question"], inputs["context"], strict=True)
    examples = [
        SquadExample(
            str(number),
            question,
            WORD.findall(context),
            context=context,
        )
        for number, (question, context) in enumerate(pairs)
    ]
    features = list(
        create_features(examples, served.tokenizer, WINDOWS, is_training=False)
    )
    logits = call(served.model, features)
    ids = [feature.unique_id for feature in features]
    sides = (logits[name].numpy() for name in ("start_logits", "end_logits"))
    results = [*map(answer_decoding.RawResult, ids, *sides)]
    return answer_decoding.decode_predictions(
        examples, features, results, DECODING, served.tokenizer.basic_tokenizer
    )


def test_answers_are_those_of_the_search_in_python(exports, searched):
    answers, _, odds = searched
    outputs = exports["squad"].outputs[0]
    assert outputs["answer"].tolist() == list(answers.values())
    assert len({*answers.values()}) > 2 and "" in answers.values()
    assert outputs["null_odds"] == pytest.approx(list(odds.values()), abs=1e-4)


def test_probabilities_are_those_of_the_search_in_python(exports, searched):
    answers, nbest, _ = searched
    expected = [
        entry["probability"]
        for key, entries in nbest.items()
        for entry in entries
        if entry["text"] == answers[key]
    ]
    result = exports["squad"].outputs[0]["probability"]
    assert result == pytest.approx(expected, abs=1e-5)


def test_the_byte_offsets_of_an_answer_point_to_it_in_the_passage(exports):
    served = exports["squad"]
    outputs = {
        name: values.tolist() for name, values in served.outputs[0].items()
    }
    for row, context in enumerate(served.requests[0][1]["context"]):
        answer = {name: values[row] for name, values in outputs.items()}
        check_bytes(context, answer)


MODES = ["classification", "multilabel", "regression"]


def pooled_logits(model, texts, length, stride):
    """Returns the logits of texts from the model itself, [N, num_labels]."""
    cls, sep = TOKENIZER.convert_tokens_to_ids(["[CLS]", "[SEP]"])
    rows = []
    for text in texts:
        ids = TOKENIZER.convert_tokens_to_ids(TOKENIZER.tokenize(text))
        spans = cut_spans(max(len(ids), 1), length - 2, stride)
        windows = [[cls, *ids[i : i + size], sep] for i, size in spans]
        inputs = [Input(window, len(window)) for window in windows]
        rows.append(
            pool(model(engines.pad_batch(inputs, length)).numpy(), [0])[0]
        )
    return np.stack(rows)


def labels_of(outputs, mode):
    """Returns the label or labels of each text from a signature's outputs."""
    labels = outputs["label"].numpy().tolist()
    if mode == "classification":
        return [label.decode() for label in labels]
    return [[label.decode() for label in row if label] for row in labels]


@pytest.mark.parametrize("mode", MODES)
def test_python_and_the_graph_read_all_of_a_text(mode, tmp_path):
    labels = None if mode == "regression" else LABELS
    texts = [*filter(str.strip, TEXTS)]
    model = create_model(modeling.BertClassifier, len(labels or "1"))
    serving.export(
        tmp_path / "model",
        model,
        {"labels": labels, "output_mode": mode, "doc_stride": 9},
        create_options(predict_batch_size=4),
    )
    bert = serving.load(tmp_path / "model")
    answers = bert.classify(texts)
    assert not [answer for answer in answers if "num_wordpieces_cut" in answer]
    logits = pooled_logits(model, texts, LENGTH, 9)
    expected = to_probabilities(logits, mode)
    graph = tf.saved_model.load(str(tmp_path / "model"))
    outputs = graph.signatures["classify_text"](text=tf.constant(texts))
    if mode == "regression":
        outcome = [[answer["value"]] for answer in answers]
        its = outputs["values"][:, None]
    else:
        outcome = [[*answer["probabilities"].values()] for answer in answers]
        its = outputs["probabilities"]
        ours = [answer["label"] for answer in answers]
        assert labels_of(outputs, mode) == ours
    np.testing.assert_allclose(outcome, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(its, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="text_b"):
        bert.classify("a boat", "the sea")
    (_, inputs) = graph.signatures["classify"].structured_input_signature
    assert [*inputs] == ["text_a"]


@pytest.fixture(scope="module")
def trimmed(tmp_path_factory):
    """{trim_padding: folder of an export}."""
    folder = tmp_path_factory.mktemp("trimmed")
    model = create_model(modeling.BertSpanLabeler)
    for trims in (False, True):
        decoding = dataclasses.replace(DECODING, trim_padding=trims)
        serving.export(
            folder / str(trims),
            model,
            dataclasses.asdict(WINDOWS) | dataclasses.asdict(decoding),
            create_options(
                "saved_model,litert" if trims else "litert",
                tokenizer=CASED_TOKENIZER,
                max_seq_length=WINDOWS.max_seq_length,
            ),
        )
    return {trims: folder / str(trims) for trims in (False, True)}


def record_calls(bert):
    """Returns a list that gets (features, outputs) of each call of a network.

    `bert` must not be used by another test.
    """
    run = bert.engine.run
    calls = []

    def record(features):
        outputs = run(features)
        calls.append((features, outputs))
        return outputs

    bert.engine.run = record
    return calls


@pytest.mark.parametrize("engine", ["litert", "saved_model"])
def test_padding_is_neither_computed_nor_a_candidate(engine, trimmed):
    bert = serving.load(trimmed[True], engine=engine)
    calls = record_calls(bert)
    together = bert.answer(*QUESTIONS.values(), n_best=5)
    # In this model some padding scores higher than the last candidate, so the
    # test would see it.
    assert any(
        values[mask == 0].max(initial=-np.inf)
        > np.sort(values[mask == 1])[-DECODING.n_best_size :].min()
        for features, outputs in calls
        for mask, values in zip(
            features["input_mask"], outputs["start_logits"], strict=True
        )
    )
    for number, expected in enumerate(together):
        question, context = (texts[number] for texts in QUESTIONS.values())
        alone = bert.answer(question, context, n_best=5)
        assert [entry["answer"] for entry in alone["n_best"]] == [
            entry["answer"] for entry in expected["n_best"]
        ]
        assert alone["probability"] == pytest.approx(
            expected["probability"], abs=1e-5
        )
    lengths = [features["input_ids"].shape[1] for features, _ in calls]
    assert min(lengths) < WINDOWS.max_seq_length


def test_the_default_pads_as_google_does(trimmed):
    assert not DecodingOptions().trim_padding
    bert = serving.load(trimmed[False], engine="litert")
    calls = record_calls(bert)
    bert.answer(*QUESTIONS.values())
    lengths = {features["input_ids"].shape[1] for features, _ in calls}
    assert lengths == {WINDOWS.max_seq_length}


@pytest.mark.parametrize("mode", MODES[:2])
def test_confident_windows_are_served_as_they_are_evaluated(mode, tmp_path):
    """Their probabilities are 0 or 1 in float32."""
    model = create_model(modeling.BertClassifier, len(LABELS))
    weights = model.head.output_weights
    weights.assign(weights * 64.0 / np.abs(weights).max())
    options = create_options(f"{FORMAT},saved_model", max_seq_length=5)
    folder = tmp_path / "model"
    settings = {"labels": LABELS, "output_mode": mode, "doc_stride": 3}
    serving.export(folder, model, settings, options)
    rng, words = np.random.default_rng(0), TOKENIZER.tokens[-800:]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(300)]
    logits = pooled_logits(model, texts, 5, 3)
    assert np.abs(logits).max() > 40
    expected = LabelDecoder(mode, LABELS).labels(logits)
    for engine in (*SMALL, "saved_model"):
        outcome = serving.load(folder, engine=engine).classify(texts)
        assert [answer["label"] for answer in outcome] == expected
    graph = tf.saved_model.load(str(folder)).signatures["serving_default"]
    assert labels_of(graph(text=tf.constant(texts)), mode) == expected
