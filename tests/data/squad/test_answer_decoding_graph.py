"""Answers that a graph decodes, against the Python that equals Google's.

test_token_spans_graph.py tests one rule at a time.
"""

import json
import random
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from data.squad import (
    answer_decoding,
    answer_decoding_graph,
    passage_windows_graph,
    token_spans,
)
from data.squad.passage_windows import create_squad_features
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import DecodingOptions, WindowOptions
from data.text import tokenization
from tests.support.paths import ROOT
from tests.support.squad.squad_cases import (
    CASES,
    create_graph_windows,
    decoding_options,
    load_case,
    windows_of_case,
)
from tests.support.squad.squad_passages import check_bytes
from tests.support.tokenizers.tokenizer_cases import random_strings

SMALL_VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"


def cut_passages(*contexts):
    """Returns the windows and passages of a question about each passage."""
    return create_graph_windows(
        tokenization.FullTokenizer(SMALL_VOCAB),
        WindowOptions(32, 7, 9),
        [("q", context) for context in contexts],
    )


def nbest_of(outputs, row):
    """Returns a question's n-best list as nbest_predictions.json has it."""
    size = outputs["nbest_sizes"][row]
    names = ("texts", "probabilities", "start_logits", "end_logits")
    columns = [outputs[f"nbest_{name}"][row, :size].numpy() for name in names]
    keys = ("text", "probability", "start_logit", "end_logit")
    return [
        dict(zip(keys, [text.decode(), *numbers], strict=True))
        for text, *numbers in zip(*columns, strict=True)
    ]


def check_answers(outputs, contexts, answers, nbest):
    """Compares outputs with each question's answer and n-best list."""
    texts = [text.decode() for text in outputs["answer"].numpy()]
    assert texts == [*answers]
    for row, expected in enumerate(nbest):
        ours = nbest_of(outputs, row)
        assert [entry["text"] for entry in ours] == [
            entry["text"] for entry in expected
        ]
        for entry, expected_entry in zip(ours, expected, strict=True):
            assert entry == pytest.approx(expected_entry, abs=1e-6)
        values = {
            key: int(outputs[key][row]) for key in ("start_byte", "end_byte")
        }
        check_bytes(contexts[row], {"answer": texts[row], **values})


@pytest.mark.parametrize("case", CASES)
def test_answers_equal_those_of_googles_code(case):
    examples, _, recorded = load_case(case, "predict_file", False)
    windows_and_passages = windows_of_case(case, examples)
    decoder = answer_decoding_graph.SquadDecoder(decoding_options(case))
    best = decoder.select_best_logits(
        recorded["start_logits"], recorded["end_logits"]
    )
    outputs = tf.function(decoder)(*windows_and_passages, best)

    def recorded_as(name):
        return json.loads((case["folder"] / case[name]).read_text())

    contexts = [example.context for example in examples]
    answers, nbest = map(recorded_as, ("predictions", "nbest_predictions"))
    check_answers(outputs, contexts, answers.values(), nbest.values())
    if case["version_2_with_negative"]:
        odds = [*recorded_as("null_odds").values()]
        assert outputs["null_odds"].numpy() == pytest.approx(odds, abs=1e-6)


def places_in(example, answer):
    """Returns the bytes of the answer and of the n-best list."""
    return [
        [
            len(example.context[:char].encode()) if char >= 0 else -1
            for char in (candidate.start, candidate.end)
        ]
        for candidate in (answer.nbest[answer.chosen_index], *answer.nbest)
    ]


def odd_contexts(seed):
    """Returns passages that lead answers back in every odd way."""
    rng = random.Random(seed)
    parts = [
        "banana",
        "Ananas",
        "caf\u00e9",
        "e\u0301te\u0301",
        "Stra\u00dfe",
        "(1895-1943).",
        "\u0130\u0130",
        "\u4e2d\u6587\u5b57\u6587",
        "a\u200bb",
        "\u00ad",
        "\u0391\u03a3",
        "x\u00a0y",
        "\ufffd",
        "\U0001f600ok",
        "isn't",
        "the",
        "harbor",
        "harbors'",
        "light,",
        "[UNK]",
        "q" * 201,
    ]
    spaces = [" ", "  ", "\n", "\t \r", "\u202f", "", ""]
    texts = [
        "".join(
            rng.choice(parts) + rng.choice(spaces)
            for _ in range(rng.randint(1, 60))
        )
        for _ in range(15)
    ]
    odd = ["", " ", "\u00ad", "\u4e2d" * 300]
    return odd + texts + random_strings(40, seed)[::4]


def check_places(outputs, examples, answers):
    """Compares the bytes at which the answers begin and end."""
    for row, (example, answer) in enumerate(
        zip(examples, answers, strict=True)
    ):
        sides = [
            [outputs[side][row], *outputs[f"nbest_{side}s"][row].numpy()]
            for side in ("start_byte", "end_byte")
        ]
        expected = places_in(example, answer)
        places = np.stack(sides, 1)[: len(expected)]
        np.testing.assert_array_equal(places, expected)


def answer_in_python(examples, features, logits, options, tokenizer):
    """Returns the answer to each question, by answer_decoding.py."""
    results = {
        feature.unique_id: token_spans.RawResult(None, *values)
        for feature, *values in zip(features, *logits, strict=True)
    }
    return [
        answer_decoding.decode_question(
            example=example,
            features=[
                feature for feature in features if feature.example_index == row
            ],
            result_of_id=results,
            options=options,
            tokenizer=tokenizer.basic_tokenizer,
        )
        for row, example in enumerate(examples)
    ]


def answer_in_a_graph(examples, windows, logits, options, tokenizer):
    """Returns the inputs of the network, and the outputs of the decoder."""
    decoder = answer_decoding_graph.SquadDecoder(options, use_char_offsets=True)

    @tf.function
    def answer(questions, contexts):
        parts, passages = passage_windows_graph.create_windows(
            tokenizer.layer, windows, questions, contexts
        )
        best = decoder.select_best_logits(*logits)
        packed = parts.pack(tokenizer.layer, windows.max_seq_length)
        return packed, decoder(parts, passages, best)

    return answer(
        tf.stack([example.question_text for example in examples]),
        tf.stack([example.context for example in examples]),
    )


class OddRun(NamedTuple):
    """Questions about odd passages, answered in Python and by the graph.

    Attributes:
        examples: the questions and their passages.
        features: the windows that Python cut.
        answers: the answers that Python decoded.
        inputs: the windows of the graph, as inputs of the network.
        outputs: the answers of the graph.
    """

    examples: list[SquadExample]
    features: list[Any]
    answers: list[Any]
    inputs: dict[str, tf.Tensor]
    outputs: dict[str, tf.Tensor]


def answer_twice(seed, do_lower_case, version_2_with_negative):
    """Returns the OddRun of a seed. Both sides decode the same logits."""
    examples = [
        SquadExample(str(i), text[5:25], WORD.findall(text), context=text)
        for i, text in enumerate(odd_contexts(seed))
    ]
    tokenizer = tokenization.FullTokenizer(SMALL_VOCAB, do_lower_case)
    windows = WindowOptions(32, 7, 9, use_char_offsets=True)
    features = list(
        create_squad_features(examples, tokenizer, windows, is_training=False)
    )
    # Few values, so that many are equal.
    rng = np.random.default_rng(seed)
    logits = rng.integers(0, 9, [2, len(features), 32]).astype(np.float32)
    options = DecodingOptions(
        n_best_size=6,
        max_answer_length=8,
        version_2_with_negative=version_2_with_negative,
        null_score_diff_threshold=-8.0,
    )
    answers = answer_in_python(examples, features, logits, options, tokenizer)
    inputs, outputs = answer_in_a_graph(
        examples, windows, logits, options, tokenizer
    )
    return OddRun(examples, features, answers, inputs, outputs)


def chosen_texts(run):
    """Returns the texts that Python predicts."""
    return [answer.nbest[answer.chosen_index].text for answer in run.answers]


@pytest.fixture(scope="module")
def uncased_run():
    """The OddRun of a tokenizer that lower-cases."""
    return answer_twice(1, do_lower_case=True, version_2_with_negative=False)


@pytest.fixture(scope="module")
def cased_run_with_no_answers():
    """The OddRun of a tokenizer that does not, with "no answer" allowed."""
    return answer_twice(2, do_lower_case=False, version_2_with_negative=True)


@pytest.fixture(
    params=[
        "uncased_run",
        pytest.param("cased_run_with_no_answers", marks=pytest.mark.slow),
    ]
)
def odd_run(request):
    """Each OddRun."""
    return request.getfixturevalue(request.param)


def test_the_graph_cuts_odd_text_as_python_does(odd_run):
    for name in ("input_ids", "input_mask", "segment_ids"):
        np.testing.assert_array_equal(
            odd_run.inputs[name],
            [getattr(feature, name) for feature in odd_run.features],
        )


def test_the_graph_answers_about_odd_text_as_python_does(odd_run):
    contexts = [example.context for example in odd_run.examples]
    nbest = [
        answer_decoding.with_probabilities(answer.nbest)
        for answer in odd_run.answers
    ]
    check_answers(odd_run.outputs, contexts, chosen_texts(odd_run), nbest)


def test_the_graph_scores_no_answer_as_python_does(odd_run):
    odds = [answer.null_odds for answer in odd_run.answers]
    assert odd_run.outputs["null_odds"].numpy().tolist() == odds


def test_the_graph_finds_answers_where_python_does(odd_run):
    check_places(odd_run.outputs, odd_run.examples, odd_run.answers)


@pytest.mark.slow
def test_the_tested_run_predicts_both_answers_and_no_answers(
    cased_run_with_no_answers,
):
    texts = chosen_texts(cased_run_with_no_answers)
    assert 0.1 < texts.count("") / len(texts) < 0.9


def test_bytes_are_those_of_the_passage_as_given():
    decoder = answer_decoding_graph.SquadDecoder(DecodingOptions())
    context = b" \xff the\xe2\x82\r\n light \xc3"
    windows, passages = cut_passages(context)
    first_positions = windows.first_positions
    last_positions = first_positions + windows.lengths - 1
    logits = tf.one_hot(first_positions, 32), tf.one_hot(last_positions, 32)
    best = decoder.select_best_logits(*logits)
    outputs = decoder(windows, passages, best)
    assert outputs["answer"].numpy().tolist() == [b"the light"]
    cut = context[int(outputs["start_byte"][0]) : int(outputs["end_byte"][0])]
    assert cut == b"the\xe2\x82\r\n light"


def test_logits_that_are_not_numbers_answer_nothing():
    """One broken window does not fail the whole request."""
    options = DecodingOptions(version_2_with_negative=True)
    decoder = answer_decoding_graph.SquadDecoder(options)
    windows_and_passages = cut_passages("the light", "the light")
    logits = tf.constant([[np.nan] * 32, [0.0] * 32])
    outputs = tf.function(decoder)(
        *windows_and_passages, decoder.select_best_logits(logits, logits)
    )
    assert outputs["answer"][0] == b""
    assert np.isnan(outputs["null_odds"][0])
    assert np.isfinite(outputs["null_odds"][1])
