"""Texts whose special words stay whole, as in "The [MASK] is blue."."""

import numpy as np
import pytest
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from tests.support.paths import ROOT
from tests.support.tokenizers.tokenizer_cases import random_strings

VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"
WORDS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")


@pytest.fixture(scope="module", params=["uncased", "cased"])
def keeping(request):
    """A tokenizer that keeps special tokens, lower-casing or not."""
    return FullTokenizer(
        VOCAB,
        do_lower_case=request.param == "uncased",
        special_tokens_in_strings=True,
    )


def test_googles_tokenizer_is_the_default(keeping):
    tokenizer = FullTokenizer(keeping.vocab_file, keeping.do_lower_case)
    assert "[MASK]" not in tokenizer.tokenize("The [MASK] is")
    assert "[MASK]" in keeping.tokenize("The [MASK] is")
    ids = tokenizer.layer(tf.constant(["The [MASK] is"])).to_list()[0]
    assert tokenizer.vocab["[MASK]"] not in ids


def test_special_tokens_stay_whole_wherever_they_are(keeping):
    text = "[CLS]The[MASK]boat[SEP][MASK] [UNK].[PAD]"
    parts = ["The", "boat", ".", "[mask]", "[mask"]
    the, boat, dot, lower, cut = map(keeping.tokenize, parts)
    pieces = keeping.tokenize(text + "[mask][MASK")
    if keeping.do_lower_case:
        assert cut == keeping.tokenize("[MASK")
    expected = ["[CLS]", *the, "[MASK]", *boat, "[SEP]", "[MASK]", "[UNK]"]
    assert pieces[: len(expected)] == expected
    rest = [*dot, "[PAD]", *lower, *keeping.tokenize("[MASK")]
    assert pieces[len(expected) :] == rest
    features = keeping(["a [MASK]"], ["[MASK] b"])
    mask = keeping.vocab["[MASK]"]
    assert (features["input_ids"] == mask).sum() == 2


def test_the_layer_keeps_special_tokens_whole_as_python_does(keeping):
    texts = random_strings(1500, seed=4)
    # Special words between, beside and inside whatever else there is. The
    # layer marks them by characters that the texts may contain too.
    odd = ["\x01", "\x02", "", "]", "[", "[MASK", "\x01[MA\x01SK]\x01", "\0"]
    mixed = [
        WORDS[i % 5].join([text, odd[i % 8], texts[-i]])
        for i, text in enumerate(texts)
    ]
    # A sigma at the end of a part, and a mark at the beginning of one.
    mixed += ["A\u03a3[MASK]A", "a[MASK]\u0301b", "[MASK]", "[MASK][MASK]", ""]
    ids_of_texts = keeping.layer(tf.constant(mixed)).to_list()
    for text, ids in zip(mixed, ids_of_texts, strict=True):
        expected = keeping.convert_tokens_to_ids(keeping.tokenize(text))
        assert ids == expected, ascii(text)
    assert keeping.layer(tf.constant([], tf.string)).shape == (0, None)


def test_a_word_that_the_vocabulary_lacks_is_text(create_tokenizer):
    plain = create_tokenizer(["[UNK]", "[CLS]", "[MASK]", "pad"])
    keeping = FullTokenizer(plain.vocab_file, special_tokens_in_strings=True)
    assert keeping.tokenize("[PAD]") == ["[UNK]", "pad", "[UNK]"]
    assert keeping.tokenize("pad[MASK]") == ["pad", "[MASK]"]


def test_the_beginning_of_a_long_text_has_its_first_wordpieces(keeping):
    text = "The [MASK] is. " * 3000
    tokens = keeping.tokenize(text)
    beginning = keeping.tokenize_beginning(text, 9000)
    assert 9000 <= len(beginning) < len(tokens)
    assert beginning == tokens[: len(beginning)]


def test_from_preset_takes_the_option(tmp_path):
    for name in ("vocab.txt", "tokenizer_config.json"):
        content = (ROOT / "examples/samples" / name).read_bytes()
        (tmp_path / name).write_bytes(content)
    tokenizer = FullTokenizer.from_preset(
        tmp_path, special_tokens_in_strings=True
    )
    assert tokenizer.tokenize("[MASK]") == ["[MASK]"]
    assert FullTokenizer.from_preset(tmp_path).tokenize("[MASK]")[1:]


CALLED_TEXTS = ["The boat", "É[MASK]"]


@pytest.mark.parametrize(
    "given",
    [
        np.array(CALLED_TEXTS),
        np.array(CALLED_TEXTS, object),
        tf.constant(CALLED_TEXTS),
        tuple(CALLED_TEXTS),
        [text.encode() for text in CALLED_TEXTS],
    ],
    ids=["array", "array of objects", "tensor", "tuple", "bytes"],
)
def test_tensors_and_arrays_of_texts_are_texts(keeping, given):
    features, expected = keeping(given), keeping(CALLED_TEXTS)
    assert features.keys() == expected.keys()
    assert all((features[name] == expected[name]).all() for name in expected)


def test_a_tensor_of_one_text_is_a_text(keeping):
    one = keeping(tf.constant("The boat"))
    assert (one["input_ids"] == keeping("The boat")["input_ids"]).all()


def test_tokens_inside_tf_data_need_the_layer(keeping):
    dataset = tf.data.Dataset.from_tensor_slices(["The boat"])
    with pytest.raises(TypeError, match="BertTextClassifierPreprocessor"):
        dataset.map(keeping)


DATASET = tf.data.Dataset.from_tensor_slices(["The boat"])


@pytest.mark.parametrize(
    "given", [DATASET, DATASET.batch(1), [3], ["a", None], 3.0, [["a"]]]
)
def test_an_input_that_is_not_a_string_is_refused(keeping, given):
    with pytest.raises(TypeError, match="must be strings"):
        keeping(given)


@pytest.mark.parametrize("lower_case", [False, True])
@pytest.mark.parametrize("is_kept", [False, True])
def test_tokenizers_of_one_vocabulary_have_layers_of_their_own(
    create_tokenizer, lower_case, is_kept
):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The"]
    vocabulary = create_tokenizer(words).vocabulary
    texts = tf.constant(["The [MASK]"])
    FullTokenizer(vocabulary).layer(texts)
    tokenizer = FullTokenizer(vocabulary, lower_case, is_kept)
    ids = tokenizer.convert_tokens_to_ids(tokenizer.tokenize("The [MASK]"))
    assert tokenizer.layer(texts).to_list()[0] == ids
