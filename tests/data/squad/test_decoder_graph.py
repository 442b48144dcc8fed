"""SQuAD inside a graph, against the Python that equals the original.

After the windows, data/squad/spans_graph.py finds the answers.
"""

import json
import random

import numpy as np
import pytest
import tensorflow as tf

from data.squad import answer_decoding, decoder_graph, windows_graph
from data.squad.passage_windows import create_squad_features
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import DecodingOptions, WindowOptions
from data.text import tokenization
from tests.support import golden
from tests.support.squad.squad_answers import check_bytes
from tests.support.squad.squad_cases import (
    CASES,
    decoding_options,
    load_case,
    load_tokenizer,
    window_options,
)
from tests.support.tokenizers.tokenizer_cases import random_strings

SMALL_VOCAB = golden.ROOT / "tests/testdata/golden/vocab/uncased.txt"
SMALL_WINDOWS = WindowOptions(32, 7, 9)


def create_windows(tokenizer, options, *pairs):
    """Returns the windows and passages of pairs of a question and a passage."""
    return windows_graph.create_windows(
        tokenizer.layer, options, *map(tf.stack, zip(*pairs, strict=True))
    )


def windows_of(*contexts):
    tokenizer = tokenization.FullTokenizer(SMALL_VOCAB)
    pairs = [("q", context) for context in contexts]
    return create_windows(tokenizer, SMALL_WINDOWS, *pairs)


def windows_of_case(case, examples):
    pairs = [(example.question_text, example.context) for example in examples]
    return create_windows(load_tokenizer(case), window_options(case), *pairs)


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
def test_windows_equal_the_originals(case):
    examples, expected, recorded = load_case(case, "predict_file", False)
    windows, _ = windows_of_case(case, examples)
    length = window_options(case).max_seq_length
    features = windows.pack(load_tokenizer(case).layer, length)
    for name in ("input_ids", "input_mask", "segment_ids"):
        assert features[name].dtype == tf.int32
        np.testing.assert_array_equal(features[name], recorded[name])
    np.testing.assert_array_equal(windows.rows, recorded["example_index"])
    first_places = windows.first_places.numpy().tolist()
    for window, feature in enumerate(expected):
        first = first_places[window]
        start = windows.starts[window]
        tokens = tf.range(start, start + windows.lengths[window])
        is_max_context = (windows.most_context(tokens) == window).numpy()
        is_max_context = is_max_context.tolist()
        assert feature.token_is_max_context == dict(
            enumerate(is_max_context, first)
        )


@pytest.mark.parametrize("case", CASES)
def test_answers_equal_the_originals(case):
    examples, _, recorded = load_case(case, "predict_file", False)
    windows_and_passages = windows_of_case(case, examples)
    decoder = decoder_graph.SquadDecoder(decoding_options(case))
    best = decoder.find_best(recorded["start_logits"], recorded["end_logits"])
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
        for candidate in (answer.nbest[answer.chosen], *answer.nbest)
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
        feature.unique_id: answer_decoding.RawResult(None, *values)
        for feature, *values in zip(features, *logits, strict=True)
    }
    return [
        answer_decoding.decode_question(
            example=example,
            features=[
                feature for feature in features if feature.example_index == row
            ],
            result_of=results,
            options=options,
            tokenizer=tokenizer.basic_tokenizer,
        )
        for row, example in enumerate(examples)
    ]


def answer_in_a_graph(examples, windows, logits, options, tokenizer):
    """Returns the inputs of the network, and the outputs of the decoder."""
    decoder = decoder_graph.SquadDecoder(options, use_char_offsets=True)

    @tf.function
    def answer(questions, contexts):
        parts, passages = windows_graph.create_windows(
            tokenizer.layer, windows, questions, contexts
        )
        best = decoder.find_best(*logits)
        packed = parts.pack(tokenizer.layer, windows.max_seq_length)
        return packed, decoder(parts, passages, best)

    return answer(
        tf.stack([example.question_text for example in examples]),
        tf.stack([example.context for example in examples]),
    )


@pytest.mark.parametrize(
    "seed, do_lower_case, version_2_with_negative",
    [(1, True, False), pytest.param(2, False, True, marks=pytest.mark.slow)],
)
def test_the_graph_answers_about_odd_text_as_python_does(
    seed, do_lower_case, version_2_with_negative
):
    contexts = odd_contexts(seed)
    examples = [
        SquadExample(str(i), text[5:25], WORD.findall(text), context=text)
        for i, text in enumerate(contexts)
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
    for name in ("input_ids", "input_mask", "segment_ids"):
        np.testing.assert_array_equal(
            inputs[name], [getattr(f, name) for f in features]
        )
    texts = [answer.nbest[answer.chosen].text for answer in answers]
    nbest = [
        answer_decoding.with_probabilities(answer.nbest) for answer in answers
    ]
    check_answers(outputs, contexts, texts, nbest)
    odds = [answer.score_diff for answer in answers]
    assert outputs["null_odds"].numpy().tolist() == odds
    check_places(outputs, examples, answers)
    if version_2_with_negative:
        assert 0.1 < texts.count("") / len(contexts) < 0.9


def test_bytes_are_those_of_the_passage_as_given():
    decoder = decoder_graph.SquadDecoder(DecodingOptions())
    context = b" \xff the\xe2\x82\r\n light \xc3"
    windows, passages = windows_of(context)
    first_places = windows.first_places
    last_places = first_places + windows.lengths - 1
    logits = tf.one_hot(first_places, 32), tf.one_hot(last_places, 32)
    best = decoder.find_best(*logits)
    outputs = decoder(windows, passages, best)
    assert outputs["answer"].numpy().tolist() == [b"the light"]
    cut = context[int(outputs["start_byte"][0]) : int(outputs["end_byte"][0])]
    assert cut == b"the\xe2\x82\r\n light"


def test_logits_that_are_not_numbers_answer_nothing():
    """One broken window does not fail the whole request."""
    options = DecodingOptions(version_2_with_negative=True)
    decoder = decoder_graph.SquadDecoder(options)
    windows_and_passages = windows_of("the light", "the light")
    logits = tf.constant([[np.nan] * 32, [0.0] * 32])
    outputs = tf.function(decoder)(
        *windows_and_passages, decoder.find_best(logits, logits)
    )
    assert outputs["answer"][0] == b""
    assert np.isnan(outputs["null_odds"][0])
    assert np.isfinite(outputs["null_odds"][1])
