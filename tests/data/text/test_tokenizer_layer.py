"""The tokenizer in a graph, against the Python that it equals."""

import itertools
import random

import pytest
import tensorflow as tf

from data.text import tokenization
from tests.support import golden
from tests.support.paths import ROOT
from tests.support.tokenizers.packed_texts import check_packed
from tests.support.tokenizers.tokenizer_cases import (
    load_recorded,
    random_strings,
)

SMALL_VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"


@pytest.fixture(scope="module", params=[True, False], ids=["lower", "cased"])
def pair(request):
    """The layer and the tokenizer that it has to equal."""
    do_lower_case = request.param
    shared = golden.SHARED / "data/vocab"
    name = "uncased.txt" if do_lower_case else "cased.txt"
    path = shared / name if shared.exists() else SMALL_VOCAB
    tokenizer = tokenization.FullTokenizer(path, do_lower_case)
    return tokenizer.layer, tokenizer


def test_the_vocabulary_is_listed_once(pair):
    layer, tokenizer = pair
    assert layer.vocab == tokenizer.tokens
    assert layer.vocab is layer.vocab


def assert_equal(pair, texts):
    layer, tokenizer = pair
    ids_of_texts = layer(tf.constant(texts)).to_list()
    for text, ids in zip(texts, ids_of_texts, strict=True):
        if isinstance(text, bytes):
            text = text.decode("utf-8", "ignore")
        expected = tokenizer.tokenize(text)
        assert ids == tokenizer.convert_tokens_to_ids(expected), ascii(text)


@pytest.mark.parametrize("path", golden.path_params("tokenization/*.json.gz"))
@pytest.mark.parametrize("casing", ["uncased", "cased"])
def test_the_graph_computes_the_recorded_ids(path, casing):
    tokenizer, texts, recorded = load_recorded(path, casing)
    ids = tokenizer.layer(tf.constant(texts))
    assert ids.dtype == tf.int32
    assert ids.to_list() == recorded


def test_a_repeated_line_of_the_vocabulary_has_its_last_id(create_tokenizer):
    """Special tokens, such as [CLS], may be repeated too."""
    tokenizer = tokenization.FullTokenizer(SMALL_VOCAB)
    tokens = [*tokenizer.tokens, ""]
    random.Random(1).shuffle(tokens)
    repeated = create_tokenizer([*tokenizer.tokens, *tokens])
    ids = repeated.convert_tokens_to_ids(["[UNK]", "[CLS]", "[SEP]"])
    assert min(ids) >= len(tokenizer.tokens)
    assert [
        repeated.layer.id_of(token) for token in ("[UNK]", "[CLS]", "[SEP]")
    ] == ids
    texts = [*random_strings(300, seed=6), "unaffable, the cat \u4e2d"]
    assert_equal((repeated.layer, repeated), texts)
    check_packed(repeated, 12, texts, texts[::-1])


def test_the_graph_reads_random_text_as_python_does(pair):
    assert_equal(pair, random_strings(3000, seed=2))


def test_a_character_is_read_by_its_neighbors_as_in_python(pair):
    rng = random.Random(5)
    # A sigma may be final, and marks change places. Both depend on the
    # characters around them, but not on those that are dropped.
    sigma = "\u03a3\u03c3Ab.'\u00ad\0 \u4e2d"
    marks = (
        "\u0301\u0323\u302e\u1b44\U0001d165\u0e39"
        "a\uac01\u09cb\u0130\u2260\0\u0f73\u20dd"
    )
    for chars in (sigma, marks, sigma + marks):
        assert_equal(
            pair,
            [
                "".join(rng.choices(chars, k=rng.randint(1, 12)))
                for _ in range(2000)
            ],
        )


def test_the_graph_reads_long_and_odd_words_as_python_does(pair):
    words = [
        char * count for char in "a\u00e9\U0001f600" for count in (200, 201)
    ]
    words += [f"x {words[3]} y", "", " ", "\u3000", "\ufffd", "\r\n"]
    assert_equal(pair, [*words, "[UNK] [CLS] ##ing", "##", "#"])
    # Bytes that are not UTF-8 are dropped.
    texts = [b"a\xffb", b"\xe2\x82 c", b"\xc3", b"x\xf0\x9f\x98y", b"\x80\x80z"]
    assert_equal(pair, texts)
    assert pair[0](tf.constant([], tf.string)).shape == (0, None)


def test_offsets_point_into_the_text_as_given(pair):
    layer, tokenizer = pair
    texts = [
        "Unaffable Caf\u00e9s, e\u0301t\u00e9\u4e2d\u6587 \U0001f600ok",
        "Plain running text, isn't it?",
        "a\0b \u00ad" + "\u00e9" * 201 + " end",
    ]
    ids, first_chars, chars = layer.tokenize_with_chars(tf.constant(texts))
    source = chars.decoded_indices.numpy()
    joined = "\n".join(texts)
    pieces = tokenizer.convert_ids_to_tokens(ids.flat_values.numpy())
    surfaces = []
    previous = 0
    for piece, (start, end) in zip(
        pieces, itertools.pairwise(first_chars.numpy()), strict=True
    ):
        assert previous <= source[start] <= source[end - 1] < len(joined)
        previous = source[end - 1] + 1
        surfaces.append(joined[source[start] : previous])
        words_of_surface = tokenizer.basic_tokenizer.tokenize(surfaces[-1])
        if piece != "[UNK]":
            assert "".join(words_of_surface) == piece.removeprefix("##")
    assert surfaces[len(ids[0]) - 1].endswith("k")
    # Too long a word is one [UNK], whatever the vocabulary splits others to.
    assert "\u00e9" * 201 in surfaces
